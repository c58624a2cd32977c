import { basename } from "node:path";
import { signatureOf, type Signature } from "../../config/check/signatures/index.ts";
import type { DiagnosticReport } from "../../config/check/report.ts";
import { takenParameters } from "../../config/check/signatures/python.ts";
import { unprovided } from "../../methods/reward/own/python/convention.ts";
import { listed, nearest } from "../../lib/suggest.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, firstTime, isOwn, reportAt, type Rule } from "../rule.ts";

/** What every call is given: see the reward host's `ScoreInput`. */
const given = ["prompt", "response", "task", "finish", "index", "group", "length", "step", "args"];

/** A function takes what it is given, and is given what it takes. */
export const rewardArguments: Rule = {
  id: "reward-arguments",
  title: "Reward function with an unknown argument",
  why: "A TypeScript or JavaScript function is called with one object: `prompt`, `response`, `task`, `finish`, `index`, `group`, `length`, `step` and `args`. Any other name that it destructures is `undefined` at every call, and usually makes the reward an error or NaN. `args` holds the values that the config lists below it, by name.\n\nA Python function is called by the names of a convention (`python-reward` says which), and with `args` as further keywords: a parameter without a default that neither gives would end every run at its start.\n\nThe parameters are read from the file's text. A function that takes the whole object is not checked.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages)
      for (const term of view.config.body.reward.terms) {
        const { file, export: name, args } = term.term.params;
        if (typeof file !== "string" || typeof name !== "string" || !fresh(term.term)) continue;
        const signature = signatureOf(file, name);
        const keys = typeof args === "object" && args !== null ? Object.keys(args) : [];
        if (signature?.language === "python") checkPython(model, view, term, keys, signature);
        else if (signature !== undefined) checkScript(model, view, term, keys, signature);
      }
  },
};

type Check = (
  model: ConfigModel,
  view: StageView,
  term: RewardTermConfig,
  keys: readonly string[],
  signature: Signature,
) => void;

const checkScript: Check = (model, view, term, keys, { taken }) => {
  if (taken === undefined) return;
  const wrong = taken.names.find((name) => !given.includes(name));
  if (wrong !== undefined) {
    const meant = nearest(wrong, given);
    say(
      model,
      view,
      term,
      [],
      `takes \`${wrong}\`, which no call provides. ${meant === undefined ? "" : `Did you mean \`${meant}\`? `}A call provides ${listed(given)}.`,
    );
    return;
  }
  const inner = taken.args;
  const ignored = taken.rest || (taken.names.includes("args") && inner === undefined);
  const known = inner?.names ?? [];
  if (!ignored && inner?.rest !== true)
    for (const key of keys.filter((key) => !known.includes(key))) unread(model, view, term, key, known);
  const missing = known.filter((name) => !keys.includes(name) && inner?.optional.includes(name) !== true);
  if (missing.length > 0) say(model, view, term, [], unsetText(missing));
};

const unsetText = (missing: readonly string[]): string =>
  `takes ${listed(missing)} from \`args\`, but the config does not set ${missing.length === 1 ? "it" : "them"}: write \`args: { ${missing.map((name) => `${name}: …`).join(", ")} }\`.`;

const checkPython: Check = (model, view, term, keys, { parameters, args, recognised }) => {
  if (recognised?.kind === "convention") {
    const missing = unprovided(recognised.convention, takenParameters(parameters), keys);
    if (missing.length > 0) say(model, view, term, [], unsetText(missing));
  }
  const all = parameters.map(({ name }) => name);
  if (all.some((name) => name.startsWith("**"))) return;
  const named = all.filter((name) => !name.startsWith("*"));
  const known = args.map(({ name }) => name);
  for (const key of keys.filter((key) => !named.includes(key))) unread(model, view, term, key, known);
};

/** An argument that the function does not take. */
function unread(
  model: ConfigModel,
  view: StageView,
  term: RewardTermConfig,
  key: string,
  known: readonly string[],
): void {
  const meant = nearest(key, known);
  const hint =
    meant === undefined
      ? known.length === 0
        ? "It takes none."
        : `It takes ${listed(known)}.`
      : `Did you mean \`${meant}\`?`;
  const path = ["reward", "terms", term.name, "args", key];
  const fileFixes = [
    meant === undefined ? undefined : model.edits.rename(path, meant, `Change to \`${meant}\``),
    meant === undefined ? model.edits.remove(path, `Remove \`${key}\``, false) : undefined,
  ];
  say(model, view, term, ["args", key], `does not take the argument \`${key}\`. ${hint}`, {
    tags: ["unnecessary"],
    fileFixes,
  });
}

function say(
  model: ConfigModel,
  view: StageView,
  term: RewardTermConfig,
  below: readonly string[],
  what: string,
  more: Pick<DiagnosticReport, "tags" | "fileFixes"> = {},
): void {
  const path = ["reward", "terms", term.name];
  const { file, export: name } = term.term.params;
  const places = [[...path, ...below], [...path, "use"], path].filter((one) =>
    isOwn(nodeAt(view.body, ...one)?.origin),
  );
  if (places.length === 0) return;
  reportAt(model, view, rewardArguments, places, {
    severity: "warning",
    message: `\`${String(name)}\` of \`${basename(String(file))}\` ${what}`,
    ...more,
  });
}
