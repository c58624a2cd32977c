import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import { fill, partsOf } from "../../../core/templates.ts";
import type { Help, HelpContext, HelpRequest, Lack, Lead } from "../../../core/slots/guidance.ts";

const beginOf = ({ task: { begin } }: HelpRequest): { readonly begin?: string } =>
  begin === undefined ? {} : { begin };

export const guide = guidanceSource({
  name: "guide",
  summary:
    "Another model writes a part of the response: its beginning, which the policy finishes (PPO++), or its end, after a beginning by the policy (AggreVaTeD). The beginning's length is the share of `rollout.max_tokens`.",
  sources: ["Learning to Generate Better Than Your LLM"],
  offers: ({ side }) => ({ place: "response", divisible: true, whole: side === "suffix", likely: true }),
  params: z.object({
    model: param(refers({ to: "model", also: ["reference"] }), "The model that guides."),
    side: param(
      z.enum(["prefix", "suffix"]).default("prefix"),
      "prefix: the guide begins and the policy finishes; suffix: the policy begins and the guide finishes.",
    ),
    ask: param(template("prompt").default("{prompt}"), "Template of the guide's prompt: `{prompt}`."),
  }),
  create: ({ model, side, ask }) => {
    const lengthOf = ({ share }: HelpRequest, { max_tokens }: HelpContext): number =>
      partsOf(share, max_tokens);
    const beginnings = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
    ): Promise<(Help | Lack)[]> => {
      const written = await context.write(
        requests.map((request) => ({
          model,
          ...beginOf(request),
          prompt: fill(ask, { prompt: request.task.prompt }),
          max_tokens: Math.max(1, lengthOf(request, context)),
          key: [...request.key, "guide"],
        })),
      );
      return written.map(({ tokens, logp }, i): Help => {
        const length = Math.min(tokens.length, lengthOf(requests[i]!, context));
        if (length === 0) return { from: "guided", by: model };
        // A guide that has ended leaves nothing to finish.
        const whole = tokens[length - 1] === context.tokenizer.eos;
        const given: Lead = {
          kind: "given",
          tokens: tokens.slice(0, length),
          ...(logp && { logp: logp.slice(0, length) }),
        };
        return { from: "guided", by: model, lead: [given], ...(whole && { whole }) };
      });
    };
    const finished = async (
      requests: readonly HelpRequest[],
      context: HelpContext,
    ): Promise<(Help | Lack)[]> => {
      const rollIns = await context.write(
        requests.map((request) => ({
          model: "policy",
          ...beginOf(request),
          prompt: request.task.prompt,
          max_tokens: Math.max(1, lengthOf(request, context)),
          key: [...request.key, "roll-in"],
        })),
      );
      const leads = rollIns.map(({ sample }): Lead[] =>
        sample === undefined ? [] : [{ kind: "own", sample }],
      );
      const ended = rollIns.map(({ tokens }) => tokens.at(-1) === context.tokenizer.eos);
      const open = [...requests.keys()].filter((i) => !ended[i]!);
      const ends = await context.write(
        open.map((i) => ({
          model,
          ...beginOf(requests[i]!),
          prompt: fill(ask, { prompt: requests[i]!.task.prompt }),
          lead: leads[i]!,
          key: [...requests[i]!.key, "guide"],
        })),
      );
      return requests.map((_, i): Help | Lack => {
        if (leads[i]!.length === 0) return { lack: "the prompt fills the model's context" };
        const end = ends[open.indexOf(i)];
        const given: Lead[] =
          ended[i]! || end === undefined
            ? []
            : [{ kind: "given", tokens: end.tokens, ...(end.logp && { logp: end.logp }) }];
        return { from: "guided", by: model, whole: true, lead: [...leads[i]!, ...given] };
      });
    };
    return { reads: "task", models: [model], help: side === "prefix" ? beginnings : finished };
  },
});
