"""A user's program with planted mistakes, each on a line that ends in `# mistake`; type checkers must find exactly these."""

from yiku import Memory

memory = Memory("~/.yiku", durabilty="fast")  # mistake
other = Memory("~/.yiku", search="wrods")  # mistake
memory.record_turn("usr", "I live in Oslo.")  # mistake
memory.record([{"role": "user"}])  # mistake
memory.record([{"role": "usr", "content": "我住在奥斯陆。"}])  # mistake
memory.recall("where do I live?", types=["memry"])  # mistake
outcome = memory.remember("Ann prefers tea.", kind="opinion")  # mistake
memory.remember("Ann prefers tea.", tgas=["drinks"])  # mistake
memory.feedback(outcome.memory.id, "clicked")  # mistake
print(outcome.replaced.content)  # mistake
