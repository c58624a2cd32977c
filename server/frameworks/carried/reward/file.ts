/** reward.py: the parts that its terms need, and how they are combined. */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import type { SettingsDraft } from "../../lens/exportDraft.ts";
import type { Missing } from "../../lens/exporter.ts";
import { literal } from "./literal.ts";
import { servedImports, termPlan, type FileCopy, type TermPlan } from "./terms.ts";

export interface RewardPlan {
  /** reward.py. */
  readonly text: string;
  readonly copies: readonly FileCopy[];
  readonly packages: Readonly<Record<string, string>>;
  readonly missing: readonly Missing[];
}

export interface Term {
  readonly name: string;
  readonly weight: number;
  readonly plan: TermPlan & { readonly kind: "python" };
  /** Names of tasks, where it is not for all. */
  readonly tasks: readonly string[] | undefined;
}

export interface TermsAsked {
  readonly config: RunConfig;
  readonly body: StageBody;
  /** Prompts of the data are lists of messages. */
  readonly messages: boolean;
  /** Whether the trainer asks for a response alone, without its group. */
  readonly alone: boolean;
}

/** @throws UserError where no term can be scored */
export function termsOf(
  { config, body, messages, alone }: TermsAsked,
  draft: SettingsDraft,
): readonly Term[] {
  const folder = dirname(config.file);
  const { gold } = body.reward;
  if (gold.length > 0)
    draft.miss(
      "reward.gold",
      [...gold],
      "Only Gradus scores held-out answers by them: they are left out.",
      "nothing-trained",
    );
  const trained = body.reward.terms.filter(({ name }) => !gold.includes(name));
  const terms = trained.flatMap((term): Term[] => {
    const weight = draft.constant(`reward.terms.${term.name}.weight`, term.weight);
    const found = asPython(termPlan({ term, body, folder, messages, alone }), term.name, config.file, draft);
    return found === undefined ? [] : [{ name: term.name, weight, plan: found, tasks: term.tasks }];
  });
  if (terms.length > 0) return terms;
  throw new UserError(`no term of the reward can be scored where ${draft.engine} trains`, {
    file: config.file,
    code: "export-reward",
    action: "Add a term that needs no model of the run, such as a function of your own.",
  });
}

/** What a server scores is Python that asks it. */
function asPython(
  plan: TermPlan,
  name: string,
  file: string,
  draft: SettingsDraft,
): Term["plan"] | undefined {
  if (plan.kind === "python") return plan;
  const key = `reward.terms.${name}`;
  if (plan.kind === "none") {
    draft.miss(key, name, `${draft.engine} cannot score it, because ${plan.why}: it is left out.`);
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

export type Combine =
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

export function combiner(
  { declaration, params }: StageBody["reward"]["combine"],
  file: string,
  draft: SettingsDraft,
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

/** A call of `term` in reward.py. */
export const termText = ({ name, weight, plan, tasks }: Term): string =>
  `term(${literal(name)}, lambda asked: ${plan.expression}${tasks === undefined ? "" : `, tasks=${literal([...tasks])}`}), weight=${literal(weight)})`;

/** A list of Python, an item a line. */
export const listText = (name: string, items: readonly string[]): string =>
  `${name} = [\n${items.map((item) => `    ${item},`).join("\n")}\n]`;

/** The calls of the terms; where a server combines them, one of it. */
export const callsOf = (terms: readonly Term[], { kind }: Combine): readonly string[] =>
  kind === "served" ? ['term("reward", lambda asked: served("reward", asked))'] : terms.map(termText);

/** Python's function that combines the terms where no server does. */
export const combineName = (combine: Combine): string =>
  combine.kind === "python" ? combine.expression : "summed";

/** Files and packages that the terms need. */
export const carried = (terms: readonly Term[]): Pick<RewardPlan, "copies" | "packages"> => ({
  copies: terms.flatMap(({ plan: { copies = [] } }) => copies),
  packages: Object.assign({}, ...terms.map(({ plan: { packages = {} } }) => packages)),
});

interface FileText {
  /** Its first line. */
  readonly says: string;
  readonly terms: readonly Term[];
  readonly combine: Combine;
  /** Parts of parts.py besides those of the terms. */
  readonly parts: readonly string[];
  readonly imports: readonly string[];
  /** After the imports of the standard library. */
  readonly hook: string;
  /** What the trainer calls, at the end. */
  readonly functions: string;
}

export function fileText({ says, terms, combine, parts, imports, hook, functions }: FileText): string {
  const all = [
    ...parts,
    ...terms.flatMap(({ plan }) => plan.parts),
    ...(combine.kind === "python" ? [combine.part] : []),
    ...(combine.kind === "served" ? ["served"] : []),
  ];
  const needed = [
    ...imports,
    ...terms.flatMap(({ plan }) => plan.imports ?? []),
    ...(combine.kind === "served" ? servedImports : []),
  ];
  const owns = terms.flatMap(({ name, plan }) =>
    plan.own === undefined ? [] : [`    ${literal(name)}: ${plan.own},`],
  );
  return [
    `"""${says}"""`,
    importLines(needed),
    hook,
    "",
    "",
    partsOf(all),
    ...(owns.length === 0 ? [] : ["", "FUNCTIONS = {", ...owns, "}", ""]),
    functions,
    "",
  ].join("\n");
}

/** `import x` and `from x import y`, once each, in the order of their words. */
function importLines(names: readonly string[]): string {
  const needed = [...names, "from functools import partial"];
  const lines = [...new Set(needed.map((name) => (name.startsWith("from ") ? name : `import ${name}`)))];
  const plain = lines.filter((line) => line.startsWith("import ")).toSorted();
  return [...plain, ...lines.filter((line) => line.startsWith("from ")).toSorted(), ""].join("\n");
}

const marker = /^# part: (\w+)\n/m;

/** Those of parts.py that are asked for, in its order. */
function partsOf(names: readonly string[]): string {
  const pieces = readFileSync(hostFile("rewardParts.py", undefined), "utf8").split(marker).slice(1);
  const texts: string[] = [];
  for (let at = 0; at < pieces.length; at += 2)
    if (names.includes(pieces[at]!)) texts.push(pieces[at + 1]!.trim());
  return `${texts.join("\n\n\n")}\n`;
}
