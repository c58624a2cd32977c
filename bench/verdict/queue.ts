/** Makes the runs that the verdict is tried on. Started again, it makes what is missing. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Json, JsonObject } from "../../shared/lib/json.ts";
import { command, run } from "../curriculum/gradus.ts";
import { keep, keptRuns, type SetName } from "./corpus.ts";
import { bases, common, every, recipes, type Base, type Recipe } from "./recipes.ts";
import { recorded } from "./recorded.ts";
import { throughVerl } from "./throughVerl.ts";

const folder = resolve("out/verdict");
const store = join(folder, ".gradus");

interface Planned {
  readonly set: SetName;
  readonly id: string;
  readonly recipe: Recipe;
  readonly seed: number;
}

/** Seeds of the two sets differ; the set that thresholds are chosen by comes first. */
const planned = (): readonly Planned[] =>
  recipes
    .flatMap((recipe) => {
      const of = (set: SetName, count: number, from: number): Planned[] =>
        Array.from({ length: count }, (_, i) => ({
          set,
          recipe,
          seed: from + i,
          id: `${recipe.name}-${from + i}`,
        }));
      return [...of("calibration", recipe.unseen === true ? 0 : 2, 1), ...of("judging", recipe.seeds, 11)];
    })
    .sort((one, other) => one.set.localeCompare(other.set));

export async function makeRuns(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  cpSync("bench/verdict/rewards", join(folder, "rewards"), { recursive: true });
  const done = new Set(
    (["calibration", "judging"] as const).flatMap((set) => keptRuns(set).map(({ id }) => `${set} ${id}`)),
  );
  const missing = planned().filter(({ set, id }) => !done.has(`${set} ${id}`));
  console.log(`${done.size} runs are kept, ${missing.length} are missing`);
  for (const one of missing) await make(one);
  await command("daemon", "stop", "--store", store);
}

async function make({ set, id, recipe, seed }: Planned): Promise<void> {
  const began = Date.now();
  const base = bases.find(({ name }) => name === recipe.base)!;
  const config = merged(
    { name: id, model: { base: await warmedUp(base, seed) } },
    every,
    common[base.name]!,
    recipe.config,
  );
  const made = await trained(id, config, seed);
  const from =
    recipe.through === "verl" ? await throughVerl({ folder, store, id, made, file: fileOf(id) }) : made;
  const { record, rollouts } = recorded(from);
  const { name, failing, through = null } = recipe;
  keep(set, { id, recipe: name, seed, failing, through, record, rollouts }, folder);
  await command("runs", "delete", made.split("/").at(-1)!, "--store", store, "--json");
  if (from !== made) await command("runs", "delete", from.split("/").at(-1)!, "--store", store, "--json");
  console.log(`${set} ${id}: ${Math.round((Date.now() - began) / 1000)} s`);
}

const fileOf = (id: string): string => join(folder, `${id}.gradus.yaml`);

/** The run's folder. A run that fails is what some of them are made for. */
async function trained(id: string, config: JsonObject, seed: number): Promise<string> {
  writeFileSync(fileOf(id), JSON.stringify(config));
  let made: string | undefined;
  try {
    for await (const line of run({ file: fileOf(id), seed, store, set: [] }))
      if (line.type === "started") made = line.folder;
  } catch (error) {
    if (made === undefined) throw error;
    console.log(`${id}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return made!;
}

/** The model that a base's runs begin from, of a seed. */
async function warmedUp({ name, config }: Base, seed: number): Promise<string> {
  const kept = join(folder, "bases", `${name}-${seed}`);
  if (existsSync(kept)) return kept;
  const made = await trained(name, config, seed);
  const checkpoints = join(made, "checkpoints");
  const last = readdirSync(checkpoints).sort((a, b) => Number(b) - Number(a))[0]!;
  mkdirSync(join(folder, "bases"), { recursive: true });
  cpSync(join(checkpoints, last, "policy"), `${kept}.new`, { recursive: true });
  renameSync(`${kept}.new`, kept);
  await command("runs", "delete", made.split("/").at(-1)!, "--store", store, "--json");
  return kept;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Maps deep, a later one before an earlier. */
const merged = (...parts: readonly JsonObject[]): JsonObject =>
  parts.reduce((all, part) => {
    const next: Record<string, Json> = { ...all };
    for (const [key, value] of Object.entries(part)) {
      const own = next[key];
      next[key] = key !== "reward" && isObject(own) && isObject(value) ? merged(own, value) : value;
    }
    return next;
  }, {});
