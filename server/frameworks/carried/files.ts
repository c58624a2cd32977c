/** Files of a project that several engines have. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Document } from "yaml";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { taskTexts } from "../../algorithm/curriculum/taskTexts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { openBase, writeInitialModel } from "../../engine/index.ts";
import { isHubName } from "../../lib/datasets/name.ts";
import { writeParquet } from "../../lib/datasets/parquetWriter.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";
import { smallText } from "../text/fileReader.ts";
import type { Exported, ExportRequest, Missing, Needs } from "../lens/exporter.ts";
import { missingText } from "../lens/missingText.ts";
import type { RewardPlan } from "./reward/file.ts";

export const shipped = (name: string): string => readFileSync(hostFile(name, undefined), "utf8");

/** launch.sh, with the command and the Python that it uses where the environment names none. */
export const launchText = (name: string, { launch, python }: ExportRequest): string =>
  shipped(name)
    .replace("LAUNCH}", `${launch ?? ""}}`)
    .replace("PYTHON}", `${python}}`);

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export interface ModelPlace {
  /** As transformers is given it, from the project. */
  readonly path: string;
  /** Whether the project has it, in `model/`. */
  readonly written: boolean;
}

/** What is no folder that transformers opens is written as one: a new model, a checkpoint of ours, a .gguf file. */
export function modelOf({ model: { base } }: RunConfig): ModelPlace {
  if (isHubName(base) || base.startsWith("${env:")) return { path: base, written: false };
  const written = base === "tiny" || openBase(base).kind !== "huggingface";
  return { path: written ? "model" : base, written };
}

/** Whether prompts are messages of a chat; `auto`: where the model has a template, as far as it is on this machine. */
export function isChat(chat: boolean | "auto", model: ModelPlace, project: string): boolean {
  if (chat !== "auto") return chat;
  const folder = model.written ? join(project, "model") : model.path;
  if (!existsSync(folder)) return true;
  return (
    existsSync(join(folder, "chat_template.jinja")) ||
    (smallText(join(folder, "tokenizer_config.json")) ?? "").includes('"chat_template"')
  );
}

/** For a trainer that renders every prompt: without a chat it is its text alone. */
export const plainTemplate = "{% for message in messages %}{{ message['content'] }}{% endfor %}";

/** The model that the project has, if it has one. */
export function writeModel(folder: string, { written }: ModelPlace, config: RunConfig): void {
  if (!written) return;
  const { model, seed } = config;
  writeInitialModel(folder, { model, seed, texts: () => taskTexts(config) });
}

/** To PyYAML a number with an exponent is one only with a point. */
const forPython = (yaml: string): string => yaml.replace(/(: |- )(-?\d+)e([+-]?\d+)$/gm, "$1$2.0e$3");

/** Settings as config.yaml, which PyYAML reads. @param comment stands above them */
export function settingsYaml(settings: JsonObject, comment: string): string {
  const document = new Document(settings);
  document.commentBefore = ` ${comment}`;
  return forPython(document.toString({ lineWidth: 0, flowCollectionPadding: true }));
}

export interface ProjectParts {
  /** The engine's release. */
  readonly release: string;
  /** By their names in the project. */
  readonly texts: Readonly<Record<string, string>>;
  readonly tables: Readonly<Record<string, readonly JsonObject[]>>;
  readonly reward: Pick<RewardPlan, "copies">;
  /** What is written already. */
  readonly others: readonly string[];
  readonly missing: readonly Missing[];
  readonly needs: Needs;
}

/** Writes an engine's project: its texts and tables, the rewards' own files, check.json and MISSING.md. */
export async function writeParts(folder: string, parts: ProjectParts): Promise<Exported> {
  const { release, tables, reward, others, missing, needs } = parts;
  const texts: Readonly<Record<string, string>> = {
    ...parts.texts,
    "check.json": `${JSON.stringify(needs, null, 2)}\n`,
    "MISSING.md": missingText(release, missing),
  };
  for (const [name, text] of Object.entries(texts)) put(join(folder, name), text);
  for (const { from, to } of reward.copies) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to));
  }
  for (const [name, rows] of Object.entries(tables))
    await writeParquet(join(folder, name), async function* () {
      yield* rows;
    });
  const copied = new Set(reward.copies.map(({ to }) => to));
  return {
    files: [...Object.keys(texts), ...copied, ...Object.keys(tables), ...others],
    missing,
    needs,
  };
}
