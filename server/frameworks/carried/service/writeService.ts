/** Writes the service into an exported project: everything that its curriculum and its rewards need, and nothing that points elsewhere. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { rowsOf } from "../../../methods/tasks/datasetRows.ts";
import { travellingBundle } from "../../../lib/own/bundle.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import { loadConfig } from "../../../rules/load.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isObject, objectOf, type Json, type JsonObject } from "../../../../shared/lib/json.ts";
import type { Missing } from "../../lens/exporter.ts";
import { clientFile, configFile, serviceFile, serviceFolder } from "./places.ts";
import { ServedCurriculum } from "./servedCurriculum.ts";
import { hostsOf, isScored, travelOf, type Replaced } from "./travels.ts";

export interface WrittenService {
  /** Relative to the project. */
  readonly files: readonly string[];
  readonly missing: readonly Missing[];
  /** Reward terms that the service scores; the others are the trainer's. */
  readonly scored: readonly string[];
}

/** Blocks that a draw, an outcome or a reward reads. */
const blocks = ["tasks", "curriculum", "rollout", "reward", "advantage"];
const stageKeys = ["name", "steps", "kind", "until", "crossfade", "on_enter", "alternate", ...blocks];
const rolloutKeys = ["prompts", "group", "max_tokens", "chat", "system"];

/**
 * @param project the folder, which is there
 * @param built finds a built file by its name; default: those of this installation
 * @throws UserError where a file of the config is missing, or what is written does not draw
 */
export async function writeService(
  config: RunConfig,
  project: string,
  built: (name: string) => string = (name) => hostFile(name, undefined),
): Promise<WrittenService> {
  const folder = join(project, serviceFolder);
  mkdirSync(folder, { recursive: true });
  const { missing, replaced } = travelOf(config);
  const files = new TravellingFiles(folder, dirname(config.file));
  const tree = await files.moved(reduced(config.tree, replaced));
  writeFileSync(join(folder, configFile), `${JSON.stringify(tree, undefined, 2)}\n`);
  for (const name of [serviceFile, clientFile, ...hostsOf(config)]) putBuilt(built(name), join(folder, name));
  await checkDraws(join(folder, configFile));
  const terms = config.stages.flatMap(({ body }) => body.reward.terms);
  const own = [serviceFile, clientFile, configFile, ...hostsOf(config), ...files.names];
  return {
    files: own.map((name) => `${serviceFolder}/${name}`),
    missing,
    scored: [...new Set(terms.filter(isScored).map(({ name }) => name))],
  };
}

/** A package has the large ones compressed. */
function putBuilt(source: string, target: string): void {
  if (source.endsWith(".br")) writeFileSync(target, brotliDecompressSync(readFileSync(source)));
  else copyFileSync(source, target);
}

/** The config without what only training reads. Stages that draw nothing are another trainer's, or nobody's. */
function reduced(tree: JsonObject, replaced: ReadonlySet<Replaced>): JsonObject {
  const whole = part(tree, ["name", "seed", "steps", ...blocks]);
  const stages = tree["stages"];
  if (!Array.isArray(stages)) return body(whole, replaced);
  const drawing = stages.filter(isObject).filter((stage) => draws(stage, stages));
  const own = drawing.map((stage) => body(part(stage, stageKeys), replaced));
  return { ...body(whole, replaced), stages: own.map((stage) => withTurns(stage, drawing)) };
}

const part = (tree: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (tree[key] === undefined ? [] : [[key, tree[key]]])));

const isRl = (stage: JsonObject): boolean =>
  (stage["kind"] ?? "rl") === "rl" && stage["alternate"] === undefined;

function draws(stage: JsonObject, stages: readonly Json[]): boolean {
  const names = new Set(stages.flatMap((one) => (isObject(one) && isRl(one) ? [one["name"]] : [])));
  return isRl(stage) || turnsOf(stage).some((turn) => names.has(turn["stage"]));
}

const turnsOf = ({ alternate }: JsonObject): JsonObject[] =>
  Array.isArray(alternate) ? alternate.filter(isObject) : [];

/** Turns of the stages that are left. */
function withTurns(stage: JsonObject, drawing: readonly JsonObject[]): JsonObject {
  if (stage["alternate"] === undefined) return stage;
  const names = new Set(drawing.map(({ name }) => name));
  return { ...stage, alternate: turnsOf(stage).filter((turn) => names.has(turn["stage"])) };
}

function body(tree: JsonObject, replaced: ReadonlySet<Replaced>): JsonObject {
  const { rollout, tasks, curriculum, on_enter } = tree;
  const defaults = { estimator: { use: "ema" }, sampler: { use: "uniform" } };
  const own = Object.fromEntries([...replaced].map((name) => [name, defaults[name]]));
  return {
    ...tree,
    ...(isObject(rollout) && { rollout: part(rollout, rolloutKeys) }),
    ...(tasks !== undefined && { tasks: withoutPlay(tasks) }),
    ...(isObject(curriculum) && { curriculum: { ...part(curriculum, curriculumKeys), ...own } }),
    ...(isObject(on_enter) && { on_enter: part(on_enter, ["carry_over"]) }),
  };
}
const curriculumKeys = ["arms", "signal", "estimator", "sampler", "admission", "budget"];

/** Who answers the policy's turns is the trainer's; no task is made on the way. */
function withoutPlay(tasks: Json): Json {
  const plain = ({ play: _, ...task }: JsonObject): JsonObject => task;
  if (Array.isArray(tasks))
    return tasks
      .filter(isObject)
      .filter(({ generate }) => generate === undefined)
      .map(plain);
  return Object.fromEntries(
    Object.entries(objectOf(tasks)).map(([name, task]) => [name, plain(objectOf(task))]),
  );
}

const scripts = new Set([".ts", ".mts", ".js", ".mjs"]);
const data = new Set([".jsonl", ".json", ".txt", ".md", ".py", ".yaml"]);

/** Files that a config names, in the service's folder under names of their own. */
class TravellingFiles {
  readonly names: string[] = [];
  private readonly places = new Map<string, string>();

  constructor(
    private readonly folder: string,
    private readonly home: string,
  ) {}

  /** The tree with the names that its files have in the folder. */
  async moved(tree: JsonObject): Promise<JsonObject> {
    return Object.fromEntries(
      await Promise.all(
        Object.entries(tree).map(async ([key, value]) => [key, await this.value(key, value)] as const),
      ),
    );
  }

  private async value(key: string, value: Json): Promise<Json> {
    if (Array.isArray(value)) return Promise.all(value.map((one) => this.value(key, one)));
    if (isObject(value)) return this.moved(value);
    if (typeof value !== "string") return value;
    if (key === "dataset") return this.dataset(value);
    const { path, name } = referenceIn(value);
    const place = resolve(this.home, path);
    const isMeant = isAbsolute(path) || scripts.has(extname(path)) || data.has(extname(path));
    if (!isMeant || !existsSync(place)) return value;
    return `./${await this.file(place)}${name}`;
  }

  /** Rows of any kind of file as lines: no other reader need travel. */
  private async dataset(value: string): Promise<string> {
    const place = value.startsWith("hf://") ? value : resolve(this.home, value);
    const known = this.places.get(place);
    if (known !== undefined) return known;
    const name = this.named(`${basename(place).replace(/\.[^.]*$|[^\w.-]/g, "") || "data"}.jsonl`);
    this.places.set(place, name);
    const lines = [...rowsOf(place)].map(({ value: row }) => `${JSON.stringify(row)}\n`);
    writeFileSync(join(this.folder, name), lines.join(""));
    return name;
  }

  private async file(place: string): Promise<string> {
    const known = this.places.get(place);
    if (known !== undefined) return known;
    const isScript = scripts.has(extname(place));
    const stem = basename(place);
    const name = this.named(isScript ? stem.replace(/\.[^.]*$/, ".mjs") : stem);
    this.places.set(place, name);
    const target = join(this.folder, name);
    if (isScript) writeFileSync(target, await travellingBundle(place, owner(stem)));
    else if (statSync(place).isDirectory()) cpSync(place, target, { recursive: true, dereference: true });
    else copyFileSync(place, target);
    return name;
  }

  /** A name that no other file of the folder has. */
  private named(wanted: string): string {
    const taken = new Set([serviceFile, clientFile, configFile, ...this.names]);
    const [stem, end] = [wanted.replace(/\.[^.]*$/, ""), extname(wanted)];
    let name = wanted;
    for (let n = 2; taken.has(name); n++) name = `${stem}-${n}${end}`;
    this.names.push(name);
    return name;
  }
}

const owner = (stem: string) => ({
  what: stem,
  key: "use",
  missing: "reward-missing",
  build: "reward-build",
});

/** `rewards/own.ts:score` as a path and what follows it. */
function referenceIn(value: string): { readonly path: string; readonly name: string } {
  const found = /^(.*\.(?:ts|mts|js|mjs|py))(:[\w.]+)$/.exec(value);
  return found === null ? { path: value, name: "" } : { path: found[1]!, name: found[2]! };
}

/** Tries what was written: better here than on the machine that trains. */
async function checkDraws(file: string): Promise<void> {
  const { config, diagnostics } = loadConfig(file);
  if (config === undefined) {
    const first = diagnostics.find(({ severity }) => severity === "error");
    throw new UserError(
      `the curriculum cannot be exported: ${first?.message ?? "its config cannot be read"}`,
      {
        file,
        code: "service-config",
        action: "Train with `engine.use: embedded`, or leave that part out.",
      },
    );
  }
  await new ServedCurriculum(config).draw({ step: 0, round: 0 });
}
