"""
The MCP server: memory as tools, resources and prompts for any agent that speaks the Model Context Protocol.

    server     what is listed, called and read, on the official SDK     home    the memory behind it, opened in a thread
    stdio      one client over stdin and stdout                         http    several over streamable HTTP on this machine
    guard      who may speak to it over HTTP, and how much

A server serves one scope of one home, which its settings name and no argument of a tool can change. The SDK is the extra
`yiku[mcp]`; nothing outside this package imports it.
"""
