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
memory.admin.consolidate("ful")  # mistake
print(memory.admin.report().items[0].cause)  # mistake
memory.admin.audit(budgets={"duplicate": 0.1})  # mistake
memory.prompts.compile(strategy="rule")  # mistake
print(memory.prompts.build("我住在哪里？", auto_recall="gate").text)  # mistake
memory.agent.propose("The user likes tea.", kind="opinion")  # mistake
memory.agent.learned("e1", ["我喜欢茶。"])  # mistake
print(memory.why("3311852f").instead)  # mistake
