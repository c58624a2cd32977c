/** What a name in a config means. */
import { trainers, trainersThat } from "../../../shared/run/trainers.ts";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import type { Metric } from "../../../shared/metrics/metric.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { presetNamed } from "../../config/presets.ts";
import { chosenOf, fileReference, longForm, nameOf } from "../../config/check/method.ts";
import { child, textOf, toJson, type SourceNode } from "../../config/text/node.ts";
import type { Reference } from "../../core/references.ts";
import { rowsOf, type FileRows } from "../completion/rows.ts";
import { itemsOf } from "../completion/names.ts";
import { signatureOf, signatureText, type Signature } from "../../config/check/signatures/index.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

const better = { higher: "Higher is better.", lower: "Lower is better." } as const;

/** Unit, range and which way is good. */
function metricText(name: string): string[] {
  const metric = metricNamed(name);
  if (metric === undefined) return [];
  return [`**${name}**: ${metric.summary}`, metricFacts(metric)].filter((text) => text !== "");
}

/** Unit, range, which way is good, and its names elsewhere. */
export const metricFacts = (metric: Metric): string =>
  [unitText(metric), aliasText(metric)].filter((text) => text !== "").join(" ");

const unitText = ({ unit, range, better: way }: Metric): string =>
  [
    unit === "" ? "" : `In ${unit === "fraction" ? "fractions" : unit}.`,
    range === undefined ? "" : `From ${range[0]} to ${range[1]}.`,
    way === null ? "" : better[way],
  ]
    .filter((text) => text !== "")
    .join(" ");

function aliasText({ aliases }: Metric): string {
  const names = trainersThat("recorded")
    .map((id) => trainers[id])
    .flatMap(({ recorded, name }) => (aliases?.[recorded] ?? []).map((alias) => `\`${alias}\` of ${name}`));
  return names.length === 0 ? "" : `The same as ${names.join(", ")}.`;
}

/** A published method: its paper, what it follows, and what it chooses. */
export function presetText(name: string): string[] {
  const preset = presetNamed(name);
  if (preset === undefined) return [];
  const link = `[presets/${preset.id}.yaml](${pathToFileURL(preset.file).href})`;
  const status = preset.status === "exact" ? "" : ` (${preset.status})`;
  const above = preset.extends === null ? "" : ` It extends \`${preset.extends}\`.`;
  const body = bodyOf(preset.file);
  return [
    `**${preset.id}**${status}: ${preset.title}`,
    preset.follows,
    ...(body === "" ? [] : ["```yaml\n" + body + "\n```"]),
    `${link}.${above}`,
  ];
}

/** The choices, without the header. */
function bodyOf(file: string): string {
  const text = readFileSync(file, "utf8").replace(/^(?:#.*\n)*/, "");
  return text.replace(/^preset:\n(?:[ ].*\n|\n)*/, "").trim();
}

/** The function that a reward term names, by the rules that the run follows. */
export function userFunction(
  written: string,
  folder: string,
): { file: string; signature: Signature } | undefined {
  const reference = fileReference(written);
  if (reference === undefined) return undefined;
  const file = resolve(folder, reference.path);
  const name = reference.export ?? (reference.language === "python" ? "compute_score" : "score");
  const signature = signatureOf(file, name);
  return signature === undefined ? undefined : { file, signature };
}

export function rewardText(written: string, folder: string): string[] {
  const found = userFunction(written, folder);
  if (found === undefined) return [];
  const { file, signature } = found;
  const line = signature.line + 1;
  return [
    ...signatureText(signature),
    `[${relativePath(folder, file)}:${line}](${pathToFileURL(file).href}#L${line})`,
  ];
}

/** The fields of a dataset's lines, with what the first says. */
function fileText(path: string, folder: string): string[] {
  if (!/\.jsonl?$/.test(path)) return [];
  const rows = rowsOf(path, folder);
  if (rows === undefined || rows.fields.length === 0) return [];
  return [`Fields of its lines:\n\n${fieldLines(rows)}`];
}

const fieldLines = ({ fields }: FileRows): string =>
  fields
    .slice(0, 20)
    .map(({ path, example }) => `- \`${path}\`: ${example.replaceAll(/[\r\n|`]+/g, " ").slice(0, 60)}`)
    .join("\n");

/** What a name that a config gave means. */
export function nameText(
  reference: Reference,
  name: string,
  root: SourceNode | undefined,
  file: string,
): string[] {
  switch (reference.to) {
    case "metric":
    case "evaluation metric":
      return metricText(name);
    case "term":
      return defined(`The reward term \`${name}\``, child(child(child(root, "reward"), "terms"), name), file);
    case "task":
      return defined(
        `The task \`${name}\``,
        itemsOf(child(root, "tasks")).find((task) => nameOf(task, "task") === name),
        file,
      );
    case "stage":
      return defined(
        `The stage \`${name}\``,
        itemsOf(child(root, "stages")).find((stage) => nameOf(stage, "stage") === name),
        file,
      );
    case "model":
      return modelText(name, root, file);
    case "file":
      return fileText(name, dirname(file));
    default:
      return [];
  }
}

const always: Readonly<Record<string, string>> = {
  policy: "The policy that is trained.",
  reference: "The policy as it enters the first rl stage.",
  behaviour: "The policy that generated the rollouts.",
  proximal: "The policy at the start of the step.",
  previous: "The policy at the start of the step.",
};

const modelText = (name: string, root: SourceNode | undefined, file: string): string[] => {
  const known = always[name];
  return known === undefined
    ? defined(`The model \`${name}\``, child(child(root, "models"), name), file)
    : [known];
};

/** Where a thing is defined, and in short what it is. */
function defined(what: string, node: SourceNode | undefined, file: string): string[] {
  if (node === undefined) return [];
  const { origin } = node;
  const line = origin.range.start.line + 1;
  const place =
    origin.layer === "default"
      ? ""
      : ` Defined in ${relativePath(dirname(file), origin.file) || origin.file}:${line}.`;
  const written = JSON.stringify(toJson(node)).slice(0, 200);
  return [`${what}: \`${chosenName(node) ?? written}\`.${place}`];
}

function chosenName(node: SourceNode): string | undefined {
  const long = longForm(node, "reward");
  const task = longForm(node, "task");
  const reward = long.kind === "map" ? chosenOf(long, "reward")?.text : undefined;
  return reward ?? (task.kind === "map" ? chosenOf(task, "task")?.text : undefined) ?? textOf(node);
}
