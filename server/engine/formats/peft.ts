/**
 * Low-rank adapters as PEFT keeps them: `adapter_config.json` and `adapter_model.safetensors`, where A is
 * `[rank, in]` and B `[out, rank]` under the name of the module they are added to.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { limits, readText } from "../../lib/inputFile.ts";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, readFailure, UserError } from "../../../shared/lib/errors.ts";
import { readSafetensors, writeSafetensors, type StoredTensor } from "../weights/safetensors.ts";
import { targets, type Target } from "../../core/blocks/models.ts";
import { placesByMatrix, type Adapter, type TargetColumns } from "../transformer/lowRank.ts";
import { headWidth, type Shape } from "../transformer/weights.ts";
import { columnsOf } from "./huggingFace/layout.ts";
import { publicTensors } from "./huggingFace/tensors.ts";
import type { Weights } from "./model.ts";

const CONFIG = "adapter_config.json";
const TENSORS = "adapter_model.safetensors";

export interface PeftAdapter {
  readonly adapter: Adapter;
  /** `<layer>.<target>.A` and `.B`, in the layout of `transformer/lowRank.ts`. */
  readonly weights: Weights;
}

export const isPeft = (folder: string): boolean => existsSync(join(folder, CONFIG));

// ───────────────────────────────────────────────────────────────── modules

/** One module that PEFT adds an adapter to, and the targets of ours it covers: GPT-2 has q, k and v in one. */
interface Module {
  readonly name: string;
  readonly layer: number;
  readonly places: readonly TargetColumns[];
  readonly rows: number;
  /** Our column of each of its outputs, counted from the first place's. */
  readonly columns: Int32Array;
}
function modulesOf(shape: Shape, chosen: readonly Target[]): Module[] {
  const byMatrix = placesByMatrix(shape, { rank: 1, alpha: 1, targets: chosen, dropout: 0 });
  const tensors = publicTensors(shape);
  const modules: Module[] = [];
  for (let layer = 0; layer < shape.layers; layer++)
    for (const [matrix, places] of byMatrix)
      for (const tensor of tensors[`${layer}.${matrix}`] ?? []) {
        const own = places.filter(
          ({ start }) => start >= tensor.start && start < tensor.start + tensor.columns,
        );
        if (own.length === 0) continue;
        const columns = columnsOf(tensor, headWidth(shape)).map((column) => column - tensor.start);
        const name = tensor.name.slice(0, -".weight".length);
        modules.push({ name, layer, places: own, rows: own[0]!.rows, columns });
      }
  return modules;
}
/** The last two words of a module's name, which tell GPT-2's two `c_proj` apart; one word where that suffices. */
function shortName({ name }: Module): string {
  const words = name.split(".");
  return words.at(-1) === "c_proj" ? words.slice(-2).join(".") : words.at(-1)!;
}
const keyOf = (module: Module, side: "A" | "B"): string =>
  `base_model.model.${module.name}.lora_${side}.weight`;

// ───────────────────────────────────────────────────────────────── writing

/** Adapters of one module as one: their ranks side by side where it covers several of our targets. */
function moduleTensors(module: Module, rank: number, weights: Weights): Record<string, StoredTensor> {
  const { places, layer, rows, columns } = module;
  const ranks = rank * places.length;
  const a = new Float32Array(ranks * rows);
  const b = new Float32Array(columns.length * ranks);
  const first = places.length === 1 ? places[0]!.start : 0;
  places.forEach(({ target, start, columns: own }, index) => {
    const [ourA, ourB] = [weights[`${layer}.${target}.A`]!, weights[`${layer}.${target}.B`]!];
    for (let r = 0; r < rank; r++) {
      const line = index * rank + r;
      for (let row = 0; row < rows; row++) a[line * rows + row] = ourA[row * rank + r]!;
      columns.forEach((column, output) => {
        const at = column - (start - first);
        if (at >= 0 && at < own) b[output * ranks + line] = ourB[r * own + at]!;
      });
    }
  });
  return {
    [keyOf(module, "A")]: { shape: [ranks, rows], data: a },
    [keyOf(module, "B")]: { shape: [columns.length, ranks], data: b },
  };
}

/**
 * Writes the two files into a folder, which is made where it does not exist. `base` is the path or name of the model
 * that is the adapter's base, as PEFT looks it up.
 *
 * @throws UserError where a file cannot be written
 */
export function writePeft(
  folder: string,
  peft: {
    readonly shape: Shape;
    readonly adapter: Adapter;
    readonly weights: Weights;
    readonly base: string;
  },
): void {
  const { shape, adapter, weights, base } = peft;
  const modules = modulesOf(shape, adapter.targets);
  const joined = modules.filter(({ places }) => places.length > 1);
  const pattern = (value: number): Record<string, number> =>
    Object.fromEntries(joined.map((module) => [shortName(module), value * module.places.length]));
  const config = {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: base,
    r: adapter.rank,
    lora_alpha: adapter.alpha,
    lora_dropout: adapter.dropout,
    target_modules: [...new Set(modules.map(shortName))],
    rank_pattern: pattern(adapter.rank),
    alpha_pattern: pattern(adapter.alpha),
    bias: "none",
    fan_in_fan_out: shape.style.family === "gpt2",
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: null,
    use_dora: false,
    use_rslora: false,
  };
  try {
    mkdirSync(folder, { recursive: true });
    const tensors = modules.map((module) => moduleTensors(module, adapter.rank, weights));
    writeSafetensors(join(folder, TENSORS), Object.assign({}, ...tensors), { format: "pt" });
    writeFileSync(join(folder, CONFIG), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
  } catch (error) {
    throw new UserError(`The adapter could not be written to ${folder}: ${messageOf(error)}.`, {
      file: folder,
      code: "adapter-write",
      action: "Free some space or check the folder's rights.",
      cause: error,
    });
  }
}

// ───────────────────────────────────────────────────────────────── reading

const configSchema = z.looseObject({
  peft_type: z.string(),
  r: z.int().positive(),
  lora_alpha: z.number(),
  lora_dropout: z.number().min(0).max(1).default(0),
  target_modules: z.union([z.string(), z.array(z.string())]),
  use_rslora: z.boolean().nullish(),
  base_model_name_or_path: z.string().nullish(),
});
/** Keys that ask for what is not computed here, with the values that ask for nothing. */
const plainValues: Readonly<Record<string, readonly unknown[]>> = {
  bias: ["none"],
  modules_to_save: [null],
  layers_to_transform: [null],
  layer_replication: [null],
  trainable_token_indices: [null],
  lora_bias: [false],
  target_parameters: [null],
};

function adapterProblem(file: string, message: string, action: string): UserError {
  return new UserError(`${file}: ${message}.`, { file, code: "adapter-format", action });
}

function readConfig(folder: string): z.output<typeof configSchema> {
  const file = join(folder, CONFIG);
  let config: z.output<typeof configSchema>;
  try {
    config = configSchema.parse(JSON.parse(readText(file, limits.modelJson)));
  } catch (error) {
    const reason =
      error instanceof z.ZodError
        ? error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ")
        : readFailure(error);
    throw new UserError(`${file} does not describe an adapter: ${reason}.`, {
      file,
      code: "adapter-format",
      action: "Name a folder that PEFT's save_pretrained wrote.",
      cause: error,
    });
  }
  const retrain =
    "Train it as plain LoRA, or merge it with PEFT's merge_and_unload and name the merged model.";
  if (config.peft_type !== "LORA")
    throw adapterProblem(file, `peft_type is ${config.peft_type}, and this engine reads only LORA`, retrain);
  // Variants of LoRA are switched on by keys of their own, one of which changes the scale alone.
  const variants = Object.keys(config).filter((key) => key.startsWith("use_") && key !== "use_rslora");
  const plain: Record<string, readonly unknown[]> = {
    ...Object.fromEntries(variants.map((key) => [key, [false]])),
    ...plainValues,
  };
  for (const [key, allowed] of Object.entries(plain)) {
    const value = config[key];
    const empty = Array.isArray(value) && value.length === 0;
    if (value === undefined || value === null || empty || allowed.includes(value)) continue;
    throw adapterProblem(
      file,
      `${key} is ${JSON.stringify(value)}, which this engine does not compute`,
      retrain,
    );
  }
  return config;
}
/** The base model that an adapter names. */
export const peftBase = (folder: string): string | undefined =>
  readConfig(folder).base_model_name_or_path ?? undefined;

/** A and B of our targets from a module's; with `blocks`, each target has lines of its own, as `writePeft` lays them. */
function splitModule(
  module: Module,
  rank: number,
  blocks: boolean,
  a: Float32Array,
  b: Float32Array,
  into: Record<string, Float32Array>,
): void {
  const { places, layer, rows, columns } = module;
  const first = places.length === 1 ? places[0]!.start : 0;
  const lines = blocks ? rank * places.length : rank;
  places.forEach(({ target, start, columns: own }, index) => {
    const ourA = new Float32Array(rows * rank);
    const ourB = new Float32Array(rank * own);
    for (let r = 0; r < rank; r++) {
      const line = blocks ? index * rank + r : r;
      for (let row = 0; row < rows; row++) ourA[row * rank + r] = a[line * rows + row]!;
      columns.forEach((column, output) => {
        const at = column - (start - first);
        if (at >= 0 && at < own) ourB[r * own + at] = b[output * lines + line]!;
      });
    }
    into[`${layer}.${target}.A`] = ourA;
    into[`${layer}.${target}.B`] = ourB;
  });
}
/** Whether a module that covers several targets has lines for each of them, zero for the others' outputs. */
function isBlocks({ places, columns }: Module, rank: number, a: StoredTensor, b: StoredTensor): boolean {
  const lines = a.shape[0]!;
  if (places.length === 1 || lines !== rank * places.length) return false;
  return [...columns].every((column, output) =>
    places.every(
      ({ start, columns: own }, index) =>
        (column >= start && column < start + own) ||
        b.data
          .subarray(output * lines + index * rank, output * lines + (index + 1) * rank)
          .every((value) => value === 0),
    ),
  );
}

/**
 * An adapter of a model of this shape. Where one module of theirs is several targets of ours, each gets a copy of A.
 *
 * @throws UserError naming the file and the key or tensor that is missing, has other extents, or asks for more than
 * low-rank matrices of one rank
 */
export function readPeft(folder: string, shape: Shape): PeftAdapter {
  const config = readConfig(folder);
  const file = join(folder, TENSORS);
  if (!existsSync(file))
    throw adapterProblem(file, "the adapter's tensors are missing", "Save the adapter again as safetensors.");
  const stored = readSafetensors(file);
  const left = new Set(Object.keys(stored));
  const modules = modulesOf(shape, targets).filter((module) => left.has(keyOf(module, "A")));
  const lines = (module: Module): number => stored[keyOf(module, "A")]!.shape[0]!;
  const blocks = new Set(
    modules.filter((module) => {
      const [a, b] = [stored[keyOf(module, "A")]!, stored[keyOf(module, "B")]];
      return b !== undefined && isBlocks(module, config.r, a, b);
    }),
  );
  const ranks = new Set(modules.map((module) => (blocks.has(module) ? config.r : lines(module))));
  const [rank = config.r] = ranks;
  const scales = new Set(modules.map((module) => scaleOf(config, module, lines(module))));
  if (ranks.size > 1 || scales.size > 1)
    throw adapterProblem(
      join(folder, CONFIG),
      "its modules have different ranks or scales",
      "Train it with one rank and one alpha, without rank_pattern and alpha_pattern.",
    );
  const weights: Record<string, Float32Array> = {};
  for (const module of modules) {
    const [a, b] = [stored[keyOf(module, "A")]!, stored[keyOf(module, "B")]];
    left.delete(keyOf(module, "A"));
    left.delete(keyOf(module, "B"));
    const wanted = [module.columns.length, lines(module)];
    if (a.shape[1] !== module.rows || b?.shape.join() !== wanted.join())
      throw adapterProblem(
        file,
        `${keyOf(module, "B")} should have the extents [${wanted.join(", ")}] and its A [${wanted[1]}, ${module.rows}]`,
        "Use the adapter with the model it was trained on.",
      );
    splitModule(module, rank, blocks.has(module), a.data, b.data, weights);
  }
  const found = targets.filter((target) => weights[`0.${target}.A`] !== undefined);
  const [extra] = left;
  const missing = found.find((target) => weights[`${shape.layers - 1}.${target}.A`] === undefined);
  if (extra !== undefined || found.length === 0 || missing !== undefined)
    throw adapterProblem(
      file,
      extra !== undefined
        ? `${extra} is not part of this model`
        : `it has no adapter of ${missing ?? "any matrix"} in every layer`,
      "Use the adapter with the model it was trained on, and with the same matrices adapted in every layer.",
    );
  const alpha = rank * ([...scales][0] ?? config.lora_alpha / rank);
  return { adapter: { rank, alpha, targets: found, dropout: config.lora_dropout }, weights };
}

/** What a module's product is multiplied by: alpha / rank, or alpha / √rank (rsLoRA). */
function scaleOf(config: z.output<typeof configSchema>, { name }: Module, rank: number): number {
  const patterns = z.record(z.string(), z.number()).safeParse(config["alpha_pattern"] ?? {}).data ?? {};
  const key = Object.keys(patterns).find((pattern) => name === pattern || name.endsWith(`.${pattern}`));
  const alpha = key === undefined ? config.lora_alpha : patterns[key]!;
  return alpha / (config.use_rslora === true ? Math.sqrt(rank) : rank);
}
