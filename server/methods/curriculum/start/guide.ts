import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { start, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import { fill, partsOf } from "../../../core/templates.ts";
import type { StartState } from "../../../core/slots/guidance.ts";

export const guide = start({
  name: "guide",
  summary:
    "All rollouts of a task start after the same text by another model, whose length is drawn for every group.",
  formula: "length ~ U(low, high) · rollout.max_tokens",
  sources: ["Learning to Generate Better Than Your LLM"],
  params: z.object({
    model: param(refers({ to: "model", also: ["reference"] }), "The guide."),
    low: param(schedulable(z.number().min(0).max(1)).default(0), "Least share of `rollout.max_tokens`."),
    high: param(schedulable(z.number().min(0).max(1)).default(0.5), "Greatest share of it."),
    ask: param(template("prompt").default("{prompt}"), "What the guide is asked: `{prompt}`."),
  }),
  create: ({ model, low, high, ask }) => ({
    models: [model],
    begin: async (drawn, context) => {
      const { clock, max_tokens, random, tokenizer } = context;
      const [from, to] = [valueAt(low, clock), valueAt(high, clock)];
      const shares = drawn.map((_, i) =>
        Math.min(1, Math.max(0, from + (to - from) * random.fork(i).next())),
      );
      const written = await context.write(
        drawn.map(({ task, key }, i) => ({
          model,
          prompt: fill(ask, { prompt: task.prompt }),
          ...(task.begin !== undefined && { begin: task.begin }),
          max_tokens: Math.max(1, partsOf(shares[i]!, max_tokens)),
          key: [...key, "guide"],
        })),
      );
      return drawn.map(({ task, arm }, i): StartState => {
        const { tokens, logp } = written[i]!;
        const wanted = partsOf(shares[i]!, max_tokens);
        // A guide that has ended leaves its end token to the policy.
        const length = Math.min(wanted, tokens.at(-1) === tokenizer.eos ? tokens.length - 1 : tokens.length);
        if (length === 0) return { task, arm };
        const given = { tokens: tokens.slice(0, length), ...(logp && { logp: logp.slice(0, length) }) };
        return {
          task,
          arm,
          lead: [{ kind: "given", ...given }],
          help: { use: "guide", by: model, share: shares[i]! },
        };
      });
    },
  }),
});
