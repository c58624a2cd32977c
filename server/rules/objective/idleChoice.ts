import { branches } from "../../core/config/branchFacts.ts";
import type { Matter, SlotName, Choice } from "../../core/declaration.ts";
import { givenBy, givenTrains, helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Whether the sampler draws from another distribution than the model's at temperature 1. */
function filters({ rollout }: StageBody): boolean {
  const { temperature, top_p, top_k, min_p, min_tokens, logit_bias, grammar, anneal, perturb } = rollout;
  const { delta_logits: delta } = rollout;
  const { repetition_penalty, presence_penalty, frequency_penalty } = rollout;
  return (
    temperature !== 1 ||
    top_p < 1 ||
    top_k > 0 ||
    min_p > 0 ||
    min_tokens > 0 ||
    repetition_penalty !== 1 ||
    presence_penalty !== 0 ||
    frequency_penalty !== 0 ||
    Object.keys(logit_bias).length > 0 ||
    [grammar, anneal, perturb, delta].some((one) => one !== undefined)
  );
}

const has: Readonly<Record<Matter, (body: StageBody) => boolean>> = {
  branches: ({ rollout }) => branches(rollout),
  filtered: filters,
  given: ({ guidance }) => helps(guidance) && givenTrains(guidance),
  logged: ({ replay, guidance }) =>
    replay.source.declaration.name === "file" ||
    (helps(guidance) && givenBy(guidance).whole === true && givenTrains(guidance)),
  replayed: ({ replay }) => replay.source.declaration.name !== "none",
  selected: ({ replay, route }) => replay.select.declaration.name !== "all" || route.length > 0,
};

/** What is missing, and the key that brings it. */
const lacking: Readonly<Record<Matter, { readonly without: string; readonly add: string }>> = {
  branches: {
    without: "acts on rollouts that share a beginning, but no rollout branches off another",
    add: "`rollout.branch`, e.g. `{ use: top_entropy, k: 4, children: 3 }`",
  },
  filtered: {
    without:
      "corrects for what the sampler filters, but the sampler filters nothing (temperature 1, no `top_p`, no `top_k`)",
    add: "`rollout.top_p`, `rollout.top_k` or another `rollout.temperature`",
  },
  given: {
    without: "acts on tokens that the policy did not generate, but there are none",
    add: "`guidance`, e.g. `{ trigger: always, source: demonstration }`, or recorded rollouts: `replay: { use: file, path: … }`",
  },
  logged: {
    without:
      "learns from recorded answers, but no file of them is named, so the policy trains on its own answers",
    add: "`replay: { use: file, path: …, select: none }`",
  },
  replayed: {
    without: "acts on rollouts of earlier weights, but every step trains only on fresh ones",
    add: "`replay`, e.g. `{ use: window, share: 0.5 }`",
  },
  selected: {
    without: "weighs all rollouts alike, but none is selected",
    add: "`replay.select`",
  },
};

interface Idle {
  readonly path: readonly string[];
  readonly name: string;
  readonly acts: readonly Matter[];
}

/** Choices whose method says what it acts on. */
function declared({ advantage, objective }: StageBody): Idle[] {
  const of = <Slot extends SlotName>(
    { declaration, params }: Choice<Slot>,
    ...path: readonly string[]
  ): Idle[] => {
    const acts = declaration.actsOn?.(params);
    return acts === undefined ? [] : [{ path, name: `${path.join(".")}: ${declaration.name}`, acts }];
  };
  return [
    ...(objective.factor === 0 ? [] : of(objective.loss, "objective")),
    ...of(advantage.baseline, "advantage", "baseline"),
    ...advantage.token_weights.flatMap((weight) => of(weight, "advantage", "token_weights")),
    ...objective.correction.flatMap((one) => of(one, "objective", "correction")),
  ];
}

/** The same of keys that choose no method. */
const keyed = ({ advantage, objective }: StageBody): Idle[] => [
  ...(advantage.prefix === "hard"
    ? [{ path: ["advantage", "prefix"], name: "advantage.prefix: hard", acts: ["branches"] } as const]
    : []),
  ...(objective.loss.params["anchor"] === "interpolated"
    ? [{ path: ["objective", "anchor"], name: "objective.anchor: interpolated", acts: ["replayed"] } as const]
    : []),
];

function reportIdle(model: ConfigModel, view: StageView, { path, name, acts }: Idle): void {
  const { body } = view.config;
  const [first] = acts;
  if (first === undefined || acts.some((matter) => has[matter](body))) return;
  const { without, add } = lacking[first];
  const logged = first === "logged";
  const branch = pathIn(view, placeOf(view.body, "rollout", "branch"), "rollout", "branch");
  reportAt(model, view, idleChoice, [path], {
    severity: logged ? "warning" : "info",
    message: `\`${name}\` ${without}${logged ? ", correct or wrong" : ": it changes nothing"}. Add ${add}.`,
    fileFixes:
      first === "branches"
        ? [model.edits.set(branch, "{ use: top_entropy, k: 4, children: 3 }", "Let rollouts branch", false)]
        : [],
  });
}

const replayKeys = ["share", "weight", "every", "draw", "rescore", "admission", "place", "updates"] as const;

/** Keys that say how to replay while no source says what. `use: none` in a stage switches replay off on purpose. */
function reportSourceless(model: ConfigModel, view: StageView): void {
  const { replay } = view.config.body;
  if (replay.source.declaration.name !== "none" || replay.select.declaration.name === "none") return;
  const layer = (key: string): string => placeOf(view.body, "replay", key)?.layer ?? "default";
  const key = replayKeys.find((one) => layer(one) !== "default");
  if (key === undefined || layer("use") !== "default") return;
  reportAt(model, view, idleChoice, [["replay", key]], {
    severity: "warning",
    message: `\`replay.${key}\` does nothing, because no source is named and so nothing is replayed. Add \`replay: { use: file, path: … }\`, or \`use: window\` for rollouts of this run.`,
    fileFixes: [
      model.edits.set(
        pathIn(view, placeOf(view.body, "replay"), "replay", "use"),
        "window",
        "Replay rollouts of this run: `use: window`",
        false,
      ),
    ],
  });
}

export const idleChoice: Rule = {
  id: "idle-choice",
  title: "Choice that has nothing to act on",
  why: "Some methods are one part of a larger one. Credit by shared beginnings needs rollouts that branch; a weight for prefilled tokens needs a source that prefills some; a correction for the sampler needs a sampler that filters; a loss for recorded data needs the data. Without its counterpart the run is the plain method, or, with a loss for recorded data, trains the policy on whatever it generates itself.\n\nAdd what the diagnostic names, or remove the choice.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    for (const idle of [...declared(body), ...keyed(body)]) reportIdle(model, view, idle);
    reportSourceless(model, view);
  }),
};
