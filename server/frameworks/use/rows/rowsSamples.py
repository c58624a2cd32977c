"""Three tasks of our own, with the columns of data sets that scripts load most, for where those are on no disk.

A reward is tried on them as on any row: what it pays for an answer hangs on the form of the row, and hardly on the task.
"""
import re

# Question, work as GSM8K writes it, answer.
TASKS = [
    (
        "Mara fills 3 baskets with 12 pears each and gives 7 pears away. How many pears does she keep?",
        "She picks 3 * 12 = <<3*12=36>>36 pears.\nShe keeps 36 - 7 = <<36-7=29>>29 pears.",
        "29",
    ),
    (
        "A tram ticket costs $2 and a day pass $9. Joel rides 6 times. How many dollars does the pass save?",
        "Six tickets cost 6 * 2 = $<<6*2=12>>12.\nThe pass saves 12 - 9 = $<<12-9=3>>3.",
        "3",
    ),
    (
        "A mill grinds 250 kg of grain an hour for 8 hours a day. How many kg does it grind in 5 days?",
        "A day gives 250 * 8 = <<250*8=2000>>2000 kg.\nFive days give 2000 * 5 = <<2000*5=10000>>10,000 kg.",
        "10,000",
    ),
]


def gsm8k(question, work, answer):
    return {"question": question, "answer": "%s\n#### %s" % (work, answer)}


def plain(text):
    return re.sub(r"<<[^>]*>>", "", text)


def boxed(work, answer):
    return "%s\nThe answer is $\\boxed{%s}$." % (plain(work), number(answer))


def number(answer):
    return answer.replace(",", "")


def user(question):
    return [{"role": "user", "content": question}]


def dapo(question, work, answer):
    return {
        "prompt": question,
        "solution": number(answer),
        "data_source": "math_dapo",
        "source_prompt": user(question),
        "ability": "MATH",
        "reward_model": {"ground_truth": number(answer), "style": "rule-lighteval/MATH_v2"},
        "extra_info": {"index": question[:8]},
    }


def numina(question, work, answer):
    solution = boxed(work, answer)
    messages = user(question) + [{"role": "assistant", "content": solution}]
    return {"problem": question, "solution": solution, "answer": number(answer), "messages": messages}


def reasoning(question, work, answer):
    return {
        "problem": question,
        "expected_answer": number(answer),
        "generated_solution": "<think>\n%s\n</think>\n%s" % (plain(work), boxed(work, answer)),
        "problem_type": "has_answer_extracted",
        "problem_source": "sample",
        "generation_model": "sample",
        "pass_rate_72b_tir": "0.5",
        "inference_mode": "cot",
    }


# By the name on the Hub.
KNOWN = [
    (r"(openai/)?gsm8k", gsm8k),
    (r"open-r1/DAPO-Math-17k-Processed", dapo),
    (r"BytedTsinghua-SIA/DAPO-Math-17k", lambda *task: dict(dapo(*task), prompt=user(task[0]))),
    (r"AI-MO/NuminaMath-(TIR|CoT)|open-r1/OpenR1-Math-220k|agentica-org/DeepScaleR-Preview-Dataset", numina),
    (r"trl-lib/DeepMath-103K", lambda question, _, answer: {"prompt": user(question), "solution": "$%s$" % number(answer)}),
    (r"unsloth/OpenMathReasoning-mini|nvidia/OpenMathReasoning", reasoning),
]


def sample(place):
    """Rows of a data set's name; None: its columns are not known here."""
    for pattern, row in KNOWN:
        if re.match("(%s)$" % pattern, str(place)):
            return [row(*task) for task in TASKS]
    return None
