// Yiku's plugin for OpenCode, written by `yiku install opencode`: starts the capture hook, and brings memories into prompts.
// It never fails the agent: whatever goes wrong in a hook is ignored.

import { spawn } from "node:child_process"

const COMMANDS = /* COMMANDS */ {}
const LIMIT_MS = 10_000

const run = (event, payload) =>
  new Promise((done) => {
    try {
      const child = spawn("/bin/sh", ["-c", COMMANDS[event]], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), LIMIT_MS)
      let out = ""
      child.stdout.on("data", (data) => (out += data))
      child.on("error", () => done(""))
      child.on("close", () => {
        clearTimeout(timer)
        done(out)
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done("")
    }
  })

const context = (out) => {
  try {
    return JSON.parse(out).hookSpecificOutput.additionalContext || ""
  } catch {
    return ""
  }
}

const texts = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && part.text)
    .map((part) => part.text)
    .join("\n")

export const Yiku = async ({ client, directory }) => {
  const replied = new Map() // the last reply that was captured, by session
  const children = new Map() // whether a session is a subagent's, by session
  // In a child session the task tool speaks. Where the session cannot be read, nobody knows whose words they are: not the user's then.
  const ofSubagent = async (session) => {
    try {
      if (!children.has(session)) children.set(session, Boolean((await client.session.get({ path: { id: session } })).data.parentID))
      return children.get(session)
    } catch {
      return true
    }
  }
  const reply = async (session) => {
    const found = await client.session.messages({ path: { id: session } })
    const last = (found.data || []).filter((message) => message.info.role === "assistant").at(-1)
    if (!last || replied.get(session) === last.info.id) return
    replied.set(session, last.info.id)
    await run("reply", { session_id: session, cwd: directory, last_assistant_message: texts(last.parts), model: last.info.modelID })
  }

  return {
    event: async ({ event }) => {
      try {
        if (event.type === "session.idle") await reply(event.properties.sessionID)
        if (event.type === "session.compacted") await run("compress", { session_id: event.properties.sessionID, cwd: directory })
        if (event.type === "session.deleted") await run("end", { session_id: event.properties.info.id, cwd: directory })
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const prompt = texts(output.parts)
        if (!prompt) return
        const event = (await ofSubagent(input.sessionID)) ? "delegate" : "prompt"
        const found = context(await run(event, { session_id: input.sessionID, cwd: directory, hook_event_name: event, prompt }))
        const like = output.parts.find((part) => part.type === "text")
        if (found && like) output.parts.push({ ...like, id: `${like.id}y`, text: found, synthetic: true })
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      await run("tool", {
        session_id: input.sessionID,
        cwd: directory,
        tool_use_id: input.callID,
        tool_name: input.tool,
        tool_input: input.args,
        tool_response: output.output,
      })
    },
  }
}
