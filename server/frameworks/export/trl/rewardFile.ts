/** reward.py: the terms of the reward as functions that TRL calls, with their weights. */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { TrlDraft } from "./draft.ts";
import type { Missing } from "../exporter.ts";
import type { TrlPlan } from "./plan.ts";
import { literal } from "./python.ts";
import { servedImports, termPlan, type FileCopy, type TermPlan } from "./rewardTerms.ts";

export interface RewardPlan {
  /** reward.py. */
  readonly text: string;
  /** `reward_weights`, where they are not all 1. */
  readonly weights: readonly number[] | undefined;
  readonly copies: readonly FileCopy[];
  readonly packages: Readonly<Record<string, string>>;
  readonly missing: readonly Missing[];
}

interface Term {
  readonly name: string;
  readonly weight: number;
  readonly plan: TermPlan & { readonly kind: "python" };
  /** Names of tasks, where it is not for all. */
  readonly tasks: readonly string[] | undefined;
}

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(config: RunConfig, plan: TrlPlan, messages: boolean, version: string): RewardPlan {
  const draft = new TrlDraft();
  const { body } = plan.stage;
  const folder = dirname(config.file);
  const terms = body.reward.terms.flatMap((term): Term[] => {
    const weight = draft.constant(`reward.terms.${term.name}.weight`, term.weight);
    const found = asPython(termPlan({ term, body, folder, messages }), term.name, config.file, draft);
    return found === undefined ? [] : [{ name: term.name, weight, plan: found, tasks: term.tasks }];
  });
  if (terms.length === 0)
    throw new UserError("no term of the reward can be scored where TRL trains", {
      file: config.file,
      code: "export-reward",
      action: "Add a term that needs no model of the run, such as a function of your own.",
    });
  const combine = combiner(body.reward.combine, config.file, draft);
  const factors = terms.map(({ weight }) => weight * plan.rewardFactor);
  return {
    text: textOf(config, terms, combine, version),
    weights:
      combine.kind === "sum"
        ? factors.every((one) => one === 1)
          ? undefined
          : factors
        : plan.rewardFactor === 1
          ? undefined
          : [plan.rewardFactor],
    copies: terms.flatMap(({ plan: { copies = [] } }) => copies),
    packages: Object.assign({}, ...terms.map(({ plan: { packages = {} } }) => packages)),
    missing: draft.missing,
  };
}

/** What a server scores is Python that asks it. */
function asPython(plan: TermPlan, name: string, file: string, draft: TrlDraft): Term["plan"] | undefined {
  if (plan.kind === "python") return plan;
  const key = `reward.terms.${name}`;
  if (plan.kind === "none") {
    draft.miss(key, name, `TRL cannot score it, because ${plan.why}: it is left out.`);
    return undefined;
  }
  draft.miss(
    key,
    name,
    `Gradus scores it, because ${plan.why}: start ${serving(file)} before launch.sh, and set GRADUS_REWARD_URL to the address that it prints.`,
    "nothing-trained",
  );
  return {
    kind: "python",
    parts: ["served"],
    imports: servedImports,
    expression: `served(${literal(name)}, asked, log=${literal(name)}`,
  };
}

/** What a person starts. */
const serving = (file: string): string => `\`gradus reward ${basename(file)} --serve\``;

type Combine =
  | { readonly kind: "sum" }
  /** Python's function of the weights and the values of a rollout. */
  | { readonly kind: "python"; readonly part: string; readonly expression: string }
  | { readonly kind: "served" };

const combiners: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => Combine>> = {
  sum: () => ({ kind: "sum" }),
  product: () => ({ kind: "python", part: "product", expression: "product" }),
  max: () => ({ kind: "python", part: "max", expression: "greatest" }),
  gate: ({ gates }) => ({
    kind: "python",
    part: "gate",
    expression: `partial(gated, gates=${literal((gates ?? []) as Json)})`,
  }),
};

function combiner(
  { declaration, params }: TrlPlan["stage"]["body"]["reward"]["combine"],
  file: string,
  draft: TrlDraft,
): Combine {
  const own = combiners[declaration.name]?.(params);
  if (own !== undefined) return own;
  draft.miss(
    "reward.combine",
    declaration.name,
    `Gradus combines the terms: start ${serving(file)} before launch.sh, and set GRADUS_REWARD_URL to the address that it prints.`,
    "nothing-trained",
  );
  return { kind: "served" };
}

function textOf(config: RunConfig, terms: readonly Term[], combine: Combine, version: string): string {
  const parts = [
    "rows",
    ...terms.flatMap(({ plan }) => plan.parts),
    ...(combine.kind === "python" ? [combine.part, "combined"] : []),
    ...(combine.kind === "served" ? ["served"] : []),
  ];
  const imports = terms.flatMap(({ plan }) => plan.imports ?? []);
  const owns = terms.flatMap(({ name, plan }) =>
    plan.own === undefined ? [] : [`    ${literal(name)}: ${plan.own},`],
  );
  return [
    `"""The reward of ${config.name} as TRL calls it. Gradus ${version} wrote it; ${weighing[combine.kind]}"""`,
    importLines(["sys", ...imports, ...(combine.kind === "served" ? servedImports : [])]),
    "from gradus_hook import log_rollouts",
    "",
    "",
    partsOf(parts),
    ...(owns.length === 0 ? [] : ["", "FUNCTIONS = {", ...owns, "}", ""]),
    functionsOf(terms, combine),
    "",
  ].join("\n");
}

const weighing: Readonly<Record<Combine["kind"], string>> = {
  sum: "`reward_weights` of config.yaml weights the terms.",
  python: "the terms are combined at its end.",
  served: "a server combines the terms.",
};

const termText = ({ name, weight, plan, tasks }: Term): string =>
  `term(${literal(name)}, lambda asked: ${plan.expression}${tasks === undefined ? "" : `, tasks=${literal([...tasks])}`}), weight=${literal(weight)})`;

function functionsOf(terms: readonly Term[], combine: Combine): string {
  const list = (name: string, items: readonly string[]): string =>
    `${name} = [\n${items.map((item) => `    ${item},`).join("\n")}\n]`;
  if (combine.kind === "sum") return list("functions", terms.map(termText));
  if (combine.kind === "served")
    return list("functions", ['term("reward", lambda asked: served("reward", asked))']);
  const weights = literal(terms.map(({ weight }) => weight));
  return `${list("TERMS", terms.map(termText))}\nfunctions = [combined("reward", TERMS, ${weights}, ${combine.expression})]`;
}

/** `import x` and `from x import y`, once each, in the order of their words. */
function importLines(names: readonly string[]): string {
  const needed = [...names, "from functools import partial"];
  const lines = [...new Set(needed.map((name) => (name.startsWith("from ") ? name : `import ${name}`)))];
  const plain = lines.filter((line) => line.startsWith("import ")).sort();
  return [...plain, ...lines.filter((line) => line.startsWith("from ")).sort(), ""].join("\n");
}

const marker = /^# part: (\w+)\n/m;

/** Those of rewardParts.py that are asked for, in its order. */
function partsOf(names: readonly string[]): string {
  const pieces = readFileSync(hostFile("trlRewardParts.py", undefined), "utf8").split(marker).slice(1);
  const texts: string[] = [];
  for (let at = 0; at < pieces.length; at += 2)
    if (names.includes(pieces[at]!)) texts.push(pieces[at + 1]!.trim());
  return `${texts.join("\n\n\n")}\n`;
}
