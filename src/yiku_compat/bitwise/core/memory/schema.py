"""
The application's tables (meta, files, chunks, embedding_cache) as select statements on Yiku's tables.

Chunks and files are derived from the files of the workspace, so nothing writes here. A time is in milliseconds since 1970, a
hash in hexadecimal digits. The hash of a chunk is Yiku's own id of its text, so that equal passages of two files differ.
"""

from __future__ import annotations

SCHEMA_VERSION = "1.0.0"
SOURCE = "case source when 'document' then 'document' when 'skill' then 'skill' else 'memory' end"
TABLES = {
    "meta": f"""
        select key, value from (
            select 'schema_version' as key, '{SCHEMA_VERSION}' as value
            union all select 'files', cast((select count(*) from yiku_files) as text)
            union all select 'chunks', cast((select count(*) from yiku_chunks) as text)
        )""",
    "files": f"""
        select path, {SOURCE} as source, lower(hex(hash)) as hash, mtime_ns / 1000000 as mtime, size
        from yiku_files where status = 'indexed'""",
    "chunks": f"""
        select c.id as id, f.path as path, {SOURCE} as source, c.start_line as start_line, c.end_line as end_line,
            replace(c.id, '-', '') as hash, coalesce(v.model, '') as model, c.text as text,
            coalesce(v.embedding, '[]') as embedding, f.indexed_at / 1000 as updated_at
        from yiku_chunks c join yiku_files f on f.n = c.file_n left join bitwise_embeddings v on v.n = c.n""",
    "embedding_cache": """
        select v.provider as provider, v.model as model, v.provider || ':' || v.model as provider_key,
            replace(c.id, '-', '') as hash, v.embedding as embedding, v.dims as dims, f.indexed_at / 1000 as updated_at
        from bitwise_embeddings v join yiku_chunks c on c.n = v.n join yiku_files f on f.n = c.file_n""",
    "bitwise_embeddings": """
        select row_n as n, substr(name, 1, instr(name, ' ') - 1) as provider, substr(name, instr(name, ' ') + 1) as model,
            vector_json(factor, code) as embedding, length(code) as dims
        from (select row_n, max(space_n), replace(space, 'notes of ', '') as name, factor, code
            from yiku_vectors where item = 'note' and part = 0 group by row_n)""",
}
