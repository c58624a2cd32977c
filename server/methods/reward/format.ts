import { z } from "zod";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { rewardTerm, param } from "../../core/declaration.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import { TextPattern } from "../../lib/texts/textPattern.ts";
import { perRow, value } from "./perRow.ts";

function compile(pattern: string): TextPattern {
  try {
    return new TextPattern(pattern, "su");
  } catch (error) {
    throw new UserError(`format: \`pattern\` is not a regular expression: ${messageOf(error)}`, {
      code: "format-pattern",
      action: "Correct `pattern`; it uses JavaScript's syntax.",
    });
  }
}

/** No response earns more by holding up its pattern. */
const tooLong = (least: number): TermValue => ({
  ...value(least),
  criteria: [{ name: "pattern", text: "the pattern takes too long on this response", points: 1, met: 0 }],
});

/** Each tag opens and closes exactly once, in the order given, without overlap. */
function tagsInOrder(text: string, tags: readonly string[]): boolean {
  let from = 0;
  for (const tag of tags) {
    const [open, close] = [`<${tag}>`, `</${tag}>`];
    const start = text.indexOf(open);
    const end = text.indexOf(close);
    if (
      start < from ||
      end < start ||
      text.indexOf(open, start + 1) >= 0 ||
      text.indexOf(close, end + 1) >= 0
    )
      return false;
    from = end + close.length;
  }
  return true;
}

export const format = rewardTerm({
  name: "format",
  summary: "1 where the response has the required form: a pattern over all of it, tags in order, or both.",
  formula: "r = present if the response matches ^pattern$ and every tag occurs once, in order; else absent",
  sources: ["DeepSeek-R1: Incentivizing Reasoning Capability in LLMs via Reinforcement Learning"],
  judges: "form",
  range: ({ present, absent }) => [Math.min(present, absent), Math.max(present, absent)],
  computes: () => true,
  params: z.object({
    pattern: param(z.string().optional(), "Regular expression that the whole response must match."),
    tags: param(z.array(z.string().min(1)).optional(), "Tags, e.g. [think, answer]."),
    present: param(
      z.number().default(1),
      "Reward for the form; 1.1 with `absent: 1` and `combine: product` rewards right answers a tenth more.",
    ),
    absent: param(z.number().default(0), "Reward for every other response."),
  }),
  create: ({ pattern, tags, present, absent }) => {
    if (pattern === undefined && tags === undefined)
      throw new UserError("format has neither `pattern` nor `tags`", {
        code: "format-empty",
        action: "Set one of them: without either, every response would be right.",
      });
    const whole = pattern === undefined ? undefined : compile(`^(?:${pattern})$`);
    return perRow(({ response }) => {
      const matches = whole === undefined || whole.test(response);
      if (matches === undefined) return tooLong(Math.min(present, absent));
      return value(matches && (tags === undefined || tagsInOrder(response, tags)) ? present : absent);
    });
  },
});
