"""Extracting the task of a message, and detecting a change of task; in both languages."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yiku.rules.privacy import fence
from yiku.rules.sessions import tasks
from yiku.types import Origin, Turn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

# the running task, a message, whether it is another task
ENGLISH = [
    ("fix the login page", "What's the weather in Oslo tomorrow?", True),
    ("fix the login page", "By the way, can you recommend an Italian restaurant near the station?", True),
    ("plan a trip to Kyoto", "On another note, my printer prints only blank pages.", True),
    ("write a cover letter for the nurse position", "How do I remove red wine stains from a carpet?", True),
    ("refactor the payment module", "Let's change the subject: who won the chess championship?", True),
    ("summarize the quarterly sales report", "Could you draft a birthday poem for my sister?", True),
    ("book a table for Friday night", "Explain how garbage collection works in Go.", True),
    ("translate the contract into German", "Different question: which laptop suits video editing?", True),
    ("debug the memory leak in the scheduler", "Please suggest a vegetarian dinner menu for six guests.", True),
    ("learn the subjunctive in Spanish", "BTW, convert 350 Fahrenheit to Celsius.", True),
    ("set up the Kubernetes cluster", "Unrelated: what is the capital of Mongolia?", True),
    ("choose paint for the nursery", "Write a SQL query that ranks customers by revenue.", True),
    ("train for the half marathon", "Let's move on to something else. Help me file my tax return.", True),
    ("fix the CSS grid on mobile", "I need help drafting an eviction notice for my tenant.", True),
    ("fix the login page", "Can you also handle expired sessions?", False),
    ("fix the login page", "The login button is still broken on Safari.", False),
    ("plan a trip to Kyoto", "What about hotels near the temples?", False),
    ("plan a trip to Kyoto", "Make it five days instead.", False),
    ("plan a trip to Kyoto", "Which temples in Kyoto open early?", False),
    ("refactor the payment module", "Run the tests.", False),
    ("refactor the payment module", "thanks, that's great!", False),
    ("refactor the payment module", "By the way, can you rename it to billing?", False),
    ("summarize the quarterly sales report", "Shorter, please.", False),
    ("summarize the quarterly sales report", "Why?", False),
    ("write a cover letter for the nurse position", "My name is Ann and I live in Bergen.", False),
    ("translate the contract into German", "Now do the same for French.", False),
    ("debug the memory leak in the scheduler", "Here is the output:\n```\nheap 512 MB, 12 threads\n```", False),
    ("debug the memory leak in the scheduler", "yes, go ahead", False),
    ("book a table for Friday night", "Is there parking?", False),
    ("choose paint for the nursery", "Show me the second option again.", False),
    ("train for the half marathon", "How long should the longest run be?", False),
]
CHINESE = [
    ("修复登录页面", "明天奥斯陆天气怎么样？", True),
    ("修复登录页面", "对了，推荐一家车站附近的意大利餐厅", True),
    ("制定京都旅行计划", "换个话题，我的打印机总是打出白纸", True),
    ("写一封护士岗位的求职信", "地毯上的红酒渍怎么清洗？", True),
    ("重构支付模块", "说点别的吧，围棋冠军是谁？", True),
    ("总结季度销售报告", "帮我给妹妹写一首生日诗", True),
    ("预订周五晚上的餐位", "解释一下 Go 语言的垃圾回收机制", True),
    ("把合同翻译成德语", "另外，哪款笔记本电脑适合剪视频？", True),
    ("排查调度器的内存泄漏", "给六位客人设计一份素食菜单", True),
    ("学习西班牙语虚拟式", "顺便问一下，350华氏度等于多少摄氏度？", True),
    ("搭建 Kubernetes 集群", "题外话，蒙古国的首都是哪里？", True),
    ("挑选婴儿房的油漆", "写一条按收入给客户排名的 SQL 查询", True),
    ("准备半程马拉松训练", "先不说这个，帮我看看个人所得税怎么申报", True),
    ("把上周的会议记录整理成表格", "麻烦你查一下从上海到成都的高铁票价", True),
    ("修复登录页面", "另外也处理一下会话过期的情况", False),
    ("修复登录页面", "登录按钮在 Safari 上还是点不动", False),
    ("制定京都旅行计划", "那酒店呢？", False),
    ("制定京都旅行计划", "改成五天吧", False),
    ("制定京都旅行计划", "京都哪些寺庙开门早？", False),
    ("重构支付模块", "跑一下测试", False),
    ("重构支付模块", "谢谢，太好了！", False),
    ("重构支付模块", "顺便把它改名为 billing", False),
    ("总结季度销售报告", "再短一点", False),
    ("总结季度销售报告", "为什么？", False),
    ("写一封护士岗位的求职信", "我叫小安，住在卑尔根", False),
    ("把合同翻译成德语", "同样再翻译成法语", False),
    ("排查调度器的内存泄漏", "输出如下：\n```\n堆 512 MB，12 个线程\n```", False),
    ("排查调度器的内存泄漏", "好的，继续", False),
    ("预订周五晚上的餐位", "有停车场吗？", False),
    ("挑选婴儿房的油漆", "把刚才第二个方案再给我看看", False),
    ("准备半程马拉松训练", "训练中最长的一次要跑多远？", False),
]


def said(role, content):
    return Turn(
        id=f"{role}-{content}"[:40],
        session="s",
        role=role,
        content=content,
        said_at=NOW,
        recorded_at=NOW,
        origin=Origin.USER if role == "user" else Origin.ASSISTANT,
    )


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("Hi! I'm on Windows. Could you please help me fix the login page? Thanks!", "fix the login page"),
        ("Hey Ann, I would like you to write a haiku about autumn, please.", "write a haiku about autumn"),
        ("ok, so now can you deploy v2.1.0 to staging", "deploy v2.1.0 to staging"),
        ("I'm wondering how the GIL works in Python 3.12", "how the GIL works in Python 3.12"),
        ("I was hoping to move my flight to Monday.", "move my flight to Monday"),
        ("Would you mind reviewing PR #42?", "reviewing PR #42"),
        ("What's the weather in Oslo tomorrow?", "What's the weather in Oslo tomorrow?"),
        ("你好，麻烦帮我把上周的会议记录整理成表格，谢谢啦～", "把上周的会议记录整理成表格"),
        ("嗯，那个，你能给我推荐几部科幻电影吗", "推荐几部科幻电影"),
        ("请问怎么退款？", "怎么退款？"),
        ("帮我写一个 Python 脚本，把 /data/logs 里的日志按日期压缩", "写一个 Python 脚本，把 /data/logs 里的日志按日期压缩"),
        ("给我妈妈写一封生日祝福信", "给我妈妈写一封生日祝福信"),
        ("No tests run on CI", "No tests run on CI"),
        ("Please ask Dr. Okonkwo for the report. Thanks!", "ask Dr. Okonkwo for the report"),
        ("Can you compare approx. 20 routers vs. the old ones?", "compare approx. 20 routers vs. the old ones"),
        ("帮我问一下Dr. Okonkwo要报告。谢谢！", "问一下Dr. Okonkwo要报告"),
    ],
)
def test_the_task_is_what_is_asked_for(message, task):
    """Greetings, names, politeness and fillers go; what is asked for stays as it was said."""
    assert task == tasks.task(message)


@pytest.mark.parametrize(
    "message", ["", "thanks!", "OK", "yes, go ahead", "go on", "lgtm 👍", "好的", "谢谢你", "继续", "明白了", "嗯嗯", "👍", "  \n "]
)
def test_a_message_that_asks_for_nothing_new_has_no_task(message):
    """Thanks, a yes and `go on` are no tasks, in both languages."""
    assert "" == tasks.task(message)


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("My tests fail on CI since Monday. Can you find out why?", "My tests fail on CI since Monday"),
        ("Python 3.12.1 crashes. Please help.", "Python 3.12.1 crashes"),
        ("我的网站打不开了，一直显示 502 错误。你能看看吗？", "我的网站打不开了，一直显示 502 错误"),
    ],
)
def test_a_request_that_says_too_little_takes_what_stands_before_it(message, task):
    """`Can you help?` is about the sentence before it."""
    assert task == tasks.task(message)


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("Why does this fail?\n```python\nimport secret_module\n```", "Why does this fail?"),
        ("> quoted from Bob\nplease summarize the thread", "summarize the thread"),
        ("能不能帮我看看这段代码为什么报错\n```\nprint(1/0)\n```", "看看这段代码为什么报错"),
        ("2026-03-01 10:00:01 ERROR boom\n解释一下这条日志", "解释一下这条日志"),
        (
            'Traceback (most recent call last):\n  File "x.py", line 1\nZeroDivisionError: division by zero',
            "ZeroDivisionError: division by zero",
        ),
        (fence.wrap("translate the poem", str.encode) + " book a table for two", "book a table for two"),
    ],
)
def test_what_was_pasted_is_not_the_task(message, task):
    """Code, quotes, logs and recalled memories are left out; of a traceback alone its last line is the task."""
    assert task == tasks.task(message)


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["please ", "can you ", "帮我", "。", "? ", "写", "the ", "猫", "```", "\n"]), max_size=60).map(
        "".join
    )
)
def test_a_task_is_one_short_line_and_always_the_same(message):
    """Whatever is said, a task is one line of at most 80 characters, 60 of them when it is Chinese."""
    task = tasks.task(message)

    assert task == tasks.task(message)
    assert "\n" not in task and task == task.strip()
    assert len(task) <= tasks.TASK_CHARS


def test_a_long_task_is_cut_between_words():
    """80 characters of English, 60 of Chinese, with a sign that something is missing."""
    english, chinese = tasks.task("please write " + "very long words " * 20), tasks.task("写" + "长" * 200)

    assert english.endswith("long…") or english.endswith("very…") or english.endswith("words…")
    assert 60 < len(english) <= 80
    assert 58 <= len(chinese) <= 60 and chinese.endswith("长…")


@pytest.mark.parametrize(
    "message",
    ["[" * 8_000, "```" * 3_000, "please " * 2_000, "请" * 8_000, "a." * 4_000, "? " * 4_000, "\t\n" * 4_000, "x" * 60_000],
)
def test_no_message_is_slow_to_compile(message):
    """A hostile message costs a fraction of a second, for its task and for the switch."""
    began = time.process_time()
    tasks.switches(tasks.task(message) or "a task", message)

    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(("cases", "found"), [(ENGLISH, 0.8), (CHINESE, 0.8)], ids=["en", "zh"])
def test_of_sixty_pairs_no_follow_up_is_taken_for_a_new_task(cases, found):
    """Precision comes first: no follow-up switches; of the real switches four in five are seen."""
    wrong = [(task, message) for task, message, another in cases if tasks.switches(task, message) and not another]
    seen = sum(tasks.switches(task, message) for task, message, another in cases if another)

    assert [] == wrong
    assert seen >= found * sum(another for _, _, another in cases)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("clean up the mail templates", "Change the subject line of the mail to Hello Ann"),
        ("plan the security sprint", "Create a new task: security review by Bob"),
        ("制定安全冲刺计划", "创建新任务：安全评审"),
        ("修复登录页面", "没有别的问题了"),
        ("essay about cities", "Switch the topics of chapters one and two"),
    ],
)
def test_words_of_a_cue_inside_a_task_are_none(task, message):
    """A subject line, a new task in a plan and `no other question` change no topic."""
    assert not tasks.switches(task, message)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("write a wedding speech", "Add a joke about the groom's cooking."),
        ("migrate the database to Postgres 16", "does the backup include the indexes?"),
        ("分析问卷结果", "画一张年龄分布图"),
    ],
)
def test_what_changes_a_thing_or_asks_of_it_is_about_the_last_one(task, message):
    """`Add …`, `does the …?`, 画一张… share no word with the task, and still go on with it."""
    assert not tasks.switches(task, message)


def test_without_a_task_there_is_nothing_to_leave():
    """The first request of all is no switch, even with a cue."""
    assert not tasks.switches("", "换个话题，写一首诗")
    assert not tasks.switches("", "By the way, what's the weather in Oslo tomorrow?")
