/** Arms, signal, estimator, sampler, admission and budget each give the others something, and need something of them. */
import { methods } from "../../methods/index.ts";
import type { Capability, Declaration } from "../../core/declaration.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

const slots = ["arms", "signal", "estimator", "sampler", "admission", "refill", "budget"] as const;
type PartSlot = (typeof slots)[number];

const pathOf = (slot: PartSlot): readonly string[] =>
  slot === "refill" ? ["curriculum", "admission", "refill"] : ["curriculum", slot];

/** What a method needs, in words. */
const words: Readonly<Record<Capability, string>> = {
  rate: "a signal that counts successes, from 0 to 1",
  by_rollout: "a signal with a value for each rollout",
  estimate: "an estimator that estimates each arm separately",
  spread: "an estimator that gives its uncertainty",
  posterior: "an estimator with a posterior to draw from",
  foresight: "an estimator that can predict tasks not drawn yet",
  tasks: "arms that are single tasks",
  points: "arms that are points of a box of parameters",
  mixtures: "an estimator of mixtures",
};

const partOf = (body: StageBody, slot: PartSlot): Declaration => body.curriculum[slot].declaration;

const givers = (capability: Capability): Declaration[] =>
  methods.filter(({ gives = [] }) => gives.includes(capability));
const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
const isPart = (slot: string): slot is PartSlot => slots.some((one) => one === slot);

/** Methods of a slot that find what they need in a curriculum where it is chosen in the place of another. */
const fitting = (body: StageBody, slot: PartSlot): Declaration[] => {
  const others = slots.filter((one) => one !== slot).map((one) => partOf(body, one));
  return methods.filter((method) => {
    const given = [...others, method].flatMap(({ gives = [] }) => gives);
    return method.slot === slot && (method.takes ?? []).every((need) => given.includes(need));
  });
};

export const curriculumParts: Rule = {
  id: "curriculum-parts",
  title: "Parts of a curriculum that do not fit together",
  why: "A curriculum is arms × signal × estimator × sampler × admission × budget, freely combined, but a part can need what only some others provide: Thompson sampling draws from a posterior, and a moving average has none; a Beta posterior counts successes, and advantages are not successes; a bandit over a box needs arms that are points of the box.\n\nThe message lists the options that provide what is missing, and the options that could replace the part that needs it.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    const given = new Set(slots.flatMap((slot) => partOf(body, slot).gives ?? []));
    for (const slot of slots)
      for (const need of partOf(body, slot).takes ?? []) if (!given.has(need)) unmet(model, view, slot, need);
  }),
};

function unmet(model: ConfigModel, view: StageView, slot: PartSlot, need: Capability): void {
  const { body } = view.config;
  const giving = givers(need);
  const from = giving.flatMap((giver) => (isPart(giver.slot) ? [giver.slot] : []))[0] ?? slot;
  const { name } = partOf(body, slot);
  const instead = fitting(body, slot).map((method) => method.name);
  reportAt(model, view, curriculumParts, [pathOf(slot), pathOf(from), ["curriculum"]], {
    message: `The ${slot} \`${name}\` needs ${words[need]}, which \`${partOf(body, from).name}\` does not provide. Choose the ${from} ${quoted(giving.map((giver) => giver.name))}, or the ${slot} ${quoted(instead)}.`,
    related: [{ at: placeOf(view.body, ...pathOf(from)), message: `gives no ${need.replace("_", " ")}` }],
    fileFixes: [
      ...giving.map((giver) => choose(model, view, from, giver.name, giving.length === 1)),
      ...instead.slice(0, 5).map((method) => choose(model, view, slot, method, false)),
    ],
  });
}

function choose(
  { edits }: ConfigModel,
  view: StageView,
  slot: PartSlot,
  name: string,
  preferred: boolean,
): Fix | undefined {
  const path = pathIn(view, placeOf(view.body, ...pathOf(slot)), ...pathOf(slot));
  const written = edits.at(path);
  // The other method's parameters would stay: the whole choice is replaced, unless it is only a name.
  const bare = written?.kind === "map" && written.entries.size === 1;
  const at = bare ? [...path, "use"] : path;
  return edits.set(at, name, `Change \`${pathOf(slot).join(".")}\` to \`${name}\``, preferred);
}
