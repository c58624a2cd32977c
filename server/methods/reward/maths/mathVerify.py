"""math-verify as verl and TRL call it: one answer against one response. The host ends a call that takes too long."""
import logging

from math_verify import parse, verify
from math_verify.parser import ExprExtractionConfig, LatexExtractionConfig

# Its own time limit needs the main thread and is off here; it warns about that at each call.
for name in ("math_verify.parser", "math_verify.grader"):
    logging.getLogger(name).setLevel(logging.ERROR)


def same(response, answer):
    gold = answer if "\\boxed" in answer else "\\boxed{" + answer + "}"
    gold_parsed = parse(gold, [LatexExtractionConfig()], parsing_timeout=None)
    if not gold_parsed:
        raise ValueError("math-verify reads nothing in the answer " + repr(answer))
    found = parse(response, [ExprExtractionConfig(), LatexExtractionConfig()], parsing_timeout=None)
    return bool(verify(gold_parsed, found, timeout_seconds=None))


def compute_score(response, task):
    answer = task.get("answer")
    if answer is None:
        raise ValueError("math needs an answer, and the task has none: set `answer` on its dataset")
    return 1.0 if same(response.split("</think>")[-1], answer) else 0.0
