/** The pages of what the checks of a reward report, from the declarations of the probes. */
import type { RulePage } from "../../rules/rule.ts";
import { probes, type Probe } from "./probeAnswers.ts";
import { recordedProbes } from "./recordedProbes.ts";

const kinds: Readonly<Record<Probe["kind"], string>> = {
  effortless:
    "Such an answer says nothing of its task, so it should earn nothing. A policy finds what it earns within a few steps, and then has no reason to learn the task.\n\nLook at the line that the message names: return 0 where the answer is not found, before anything else is given. Where the form alone is to be rewarded, do that in a term of its own with a small weight.",
  wrong:
    "Such an answer is not right, so it must not count as a success, nor earn as much in all as the reference answer.\n\nLook at the line that the message names: take the answer out of the response first, and compare the whole of it, not a part.",
  same: "The reference answer succeeds, and the same answer with a change that does not matter does not. The policy is then punished for right answers.\n\nTake the blanks around an answer away before it is compared.",
};

const pageOf = ({ name, title, kind, mild, hedges, reference }: Probe): RulePage => ({
  id: `probe-${name}`,
  title: `Probe: ${title}`,
  why: [
    `\`gradus reward FILE --probe\`${reference === undefined ? "" : " with `--rollouts`"} and the editor, when a reward is saved, score ${title}.`,
    kinds[kind],
    ...(hedges === true
      ? [
          "A policy has to give several answers at once to find it: where fewer than one in a thousand recorded answers does, or none is recorded, it is a hint and no problem.",
        ]
      : []),
    ...(mild === true
      ? [
          "It is a warning at most: a grader may accept such answers on purpose. A test next to the reward says so.",
        ]
      : []),
  ].join(" "),
});

export const checkPages: readonly RulePage[] = [
  {
    id: "gold-answer",
    title: "Reference answer that does not succeed",
    why: "`gradus reward FILE --gold` and the editor score each row's own reference answer, in the form that most of them succeed in. A row whose answer does not succeed can only teach what is wrong: every right response to it is punished.\n\nCorrect the row, or teach the reward the row's form: thousands commas, fractions and units are the usual causes. Of a verl script the rows of `data.val_files` are checked as well.",
  },
  {
    id: "gold-format",
    title: "Format of the prompt that a reward does not reward",
    why: "`gradus reward FILE --gold` and the editor fill the format that a prompt shows (tags, a box, a JSON object, a mark) with the row's reference answer, and score it. A term that scores such an answer lower than another teaches the policy nothing as long as it obeys its prompt. The message says what is missing: the pattern's own fault, or the change with which the answer earns more.\n\nCorrect the pattern (`re.DOTALL` lets `.` match newlines), or show the format in the prompt that the reward looks for.",
  },
  {
    id: "reward-failure",
    title: "Reward that fails on answers",
    why: "A reward function throws, or returns what is no reward, on some of the answers that `gradus reward FILE --gold`, `--probe` or `--attack`, or the editor, give it. A rollout whose reward fails trains nothing, and a trainer may stop at the first. All failures of one cause, the same error at the same line, are one finding at that line, with how many answers it failed on and the row of the first.\n\nCorrect the line, or the rows: a `KeyError` names what the row lacks, and the message what it has.",
  },
  {
    id: "attack",
    title: "Reward that can be earned without the answer",
    why: "`gradus reward FILE --attack` trains a policy to please the reward without the reference answers. What succeeds on half of the tasks that it did not train on is a hole, which a run would find as well.\n\nLook at the line that the message names, and close the hole. What was found is a failing test next to the reward: `gradus test` runs it. Where answers make the reward fail, the attack learns nothing of what they would earn: correct the failure first.",
  },
  {
    id: "reward-test",
    title: "Failed test of a reward",
    why: "`gradus test` scores the response of each line of a file that ends with `.reward.test.jsonl`. A term must give it at least `at_least`, at most `at_most`, or more than the response of `beats`.\n\nCorrect the reward, or the line where it asks for what was never meant.",
  },
  ...[...probes, ...recordedProbes].map(pageOf),
];
