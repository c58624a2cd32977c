import { mismatches, type Mismatch } from "../../../../../analysis/rewardChecks/format/mismatch.ts";
import { PythonTexts } from "../../../../../analysis/rewardChecks/format/pythonTexts.ts";
import { shownFormat } from "../../../../../analysis/rewardChecks/format/shownFormat.ts";
import type { Fix } from "../../../../../config/check/diagnostic.ts";
import { replace } from "../../../../../config/check/report.ts";
import { Lines } from "../../../../readers/lines.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { rewardsOf } from "../../rewards.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const promptFormat = trlRule({
  id: "trl-prompt-format",
  trees: rewarded,
  severity: "warning",
  title: "Reward that does not match its prompt's format",
  why: "A prompt shows the policy how to answer: tags on lines of their own, a box, a mark. Where a reward's regular expression does not match an answer that is written so, the reward is 0 for the best of policies, and only a policy that disobeys the prompt can earn it. The usual causes: `.` does not match a newline without `re.DOTALL`, `^` and `$` leave no room for text around the answer, the expression asks for a newline or an end-of-turn token that completions do not hold, or for other capitals. Gradus reads prompts and functions of the same file, fills the format, and runs nothing but the expression; it reports one only where the least change that makes it match is known.",
  check(model) {
    if (model.document.form !== "python") return [];
    const texts = new PythonTexts(model.document.text);
    const shown = texts.prompts().flatMap(({ name, text }) => {
      const format = shownFormat(text);
      return format === undefined ? [] : [{ name, format }];
    });
    const found = (rewardsOf(model)?.rewards ?? []).flatMap(({ written }): Found[] => {
      const patterns = texts.patternsOf(written);
      const all = shown.map(({ name, format }) => ({ name, ...mismatches(patterns, format) }));
      // A script with several prompts may have a reward for each.
      const sound = all.flatMap((one) => one.matched);
      return all.flatMap(({ name, missed }) =>
        missed
          .filter(({ pattern }) => !sound.some(({ start }) => start === pattern.start))
          .map((mismatch) => ({ mismatch, written, prompt: name })),
      );
    });
    const distinct = new Map(found.map((one) => [one.mismatch.pattern.start, one]));
    return [...distinct.values()].map((one) => diagnosticOf(model, one));
  },
});

interface Found {
  readonly mismatch: Mismatch;
  readonly written: string;
  readonly prompt: string | undefined;
}

function diagnosticOf(model: RuleModel, { mismatch, written, prompt }: Found): RuleDiagnostic {
  const { pattern, reason, onlyLines, needsDotall } = mismatch;
  const { text } = model.document;
  const range = new Lines(text).range(pattern);
  const source = text.slice(pattern.start, pattern.end);
  const shows = prompt === undefined ? "the prompt shows" : `\`${prompt}\` shows`;
  const lines = onlyLines ? " once its work has several lines" : "";
  const fixes: Fix[] = needsDotall
    ? [replace(range, source.replace(/^[rRuU]?("""|'''|"|')/, "$&(?s)"), 'Let "." match newlines')]
    : [];
  return {
    at: { key: written, value: undefined, text: source, keyRange: range, range, sign: "" },
    message: `\`${written}\` does not match the format that ${shows}${lines}: ${reason}.`,
    fixes,
  };
}
