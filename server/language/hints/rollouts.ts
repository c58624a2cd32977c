/** What a step is made of: rollouts, tokens at most, optimiser steps. */
import { entry, type MapNode } from "../../config/text/node.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { LastRun } from "../../analysis/evidence/types.ts";
import { whole, type Hint } from "./hint.ts";
import type { Scope } from "./scopes.ts";

type Make = (scope: Scope, last: LastRun | undefined) => Hint[];

/** Each alone: where a value cannot be read, those that do not need it are made. */
export const rolloutHints: readonly Make[] = [
  (scope) => (hasRollouts(scope) ? batchHint(ownRollout(scope), scope.body) : []),
  (scope, last) => (hasRollouts(scope) ? tokenHint(ownRollout(scope), scope.body, last) : []),
  (scope) => (hasRollouts(scope) ? updateHint(scope.node, ownRollout(scope), scope.body) : []),
];

const hasRollouts = ({ stage }: Scope): boolean => stage === undefined || writesRollouts(stage);

function ownRollout({ node }: Scope): MapNode | undefined {
  const rollout = entry(node, "rollout")?.value;
  return rollout?.kind === "map" ? rollout : undefined;
}

/** Whether a step of the stage begins with rollouts. */
const writesRollouts = ({ kind, pairs }: StageConfig): boolean =>
  kind === "rl" || ((kind === "preference" || kind === "reward_model") && pairs === "rollouts");

const sizes = ({ rollout: { prompts, group } }: StageBody): string =>
  `${whole(prompts)} × ${whole(group)} = ${whole(prompts * group)}`;

function batchHint(rollout: MapNode | undefined, body: StageBody): Hint[] {
  const line = lastLine(rollout, "prompts", "group");
  if (line === undefined) return [];
  const { admission, refill } = body.curriculum;
  const filtered = admission.declaration.name !== "none";
  const notes = [
    `Effective batch: ${body.rollout.prompts} prompts × ${body.rollout.group} rollouts of each.`,
    filtered
      ? `Groups that \`${admission.use}\` rejects do not train${refill.declaration.name === "none" ? "" : `; \`${refill.use}\` draws others instead, so a step may generate more`}.`
      : "",
  ];
  const label = `${sizes(body)} rollouts per step`;
  return [
    {
      line,
      label: filtered && refill.declaration.name === "none" ? `≤ ${label}` : label,
      detail: notes.join(" ").trim(),
    },
  ];
}

function tokenHint(rollout: MapNode | undefined, body: StageBody, last: LastRun | undefined): Hint[] {
  const line = lastLine(rollout, "max_tokens") ?? lastLine(rollout, "prompts", "group");
  if (line === undefined) return [];
  const { prompts, group, max_tokens } = body.rollout;
  const most = prompts * group * max_tokens;
  const seen =
    last?.tokensPerStep === null || last === undefined
      ? ""
      : ` The median step of the last run generated ${whole(last.tokensPerStep)}.`;
  const detail = `A step generates at most ${whole(prompts * group)} rollouts × ${whole(max_tokens)} tokens.${seen}`;
  return [{ line, label: `≤ ${whole(most)} tokens per step`, detail }];
}

/** A mini-batch never splits a group or pair that the loss compares, so the last may be of another size. */
function updateHint(scope: MapNode, rollout: MapNode | undefined, body: StageBody): Hint[] {
  const update = entry(scope, "update");
  const own = update?.value.kind === "map" ? update.value : undefined;
  const line =
    lastLine(own, "mini_batch", "epochs") ??
    (rollout === undefined ? undefined : update?.key.range.start.line);
  if (line === undefined) return [];
  const { mini_batch, epochs } = body.update;
  const all = body.rollout.prompts * body.rollout.group;
  const parts = Math.ceil(all / Math.min(mini_batch ?? all, all));
  const count = epochs * parts;
  const detail =
    mini_batch === undefined
      ? `All ${whole(all)} rollouts make one optimiser step${epochs === 1 ? "" : ` in each of ${epochs} \`epochs\``}.`
      : `${whole(all)} rollouts ÷ mini-batches of ${whole(mini_batch)} = ${parts}${epochs === 1 ? "" : `, × ${epochs} epochs = ${count}`}. Rejected groups make fewer.`;
  const replayed =
    body.replay.updates > 1 ? ` This repeats ${body.replay.updates} times (\`replay.updates\`).` : "";
  const label = `${whole(count * body.replay.updates)} optimiser step${count * body.replay.updates === 1 ? "" : "s"} per step`;
  return [{ line, label, detail: detail + replayed }];
}

/** Of the values of some keys, the line of the last one. */
function lastLine(node: MapNode | undefined, ...keys: readonly string[]): number | undefined {
  const lines = keys.flatMap((key) => entry(node, key)?.value.origin.range.end.line ?? []);
  return lines.length === 0 ? undefined : Math.max(...lines);
}
