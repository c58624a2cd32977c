/**
 * A checkpoint is a folder: `config.json` and `model.safetensors` as Hugging Face's Llama reads them (matrices
 * `[out, in]`, rotary pairs half a head apart), `optimizer.safetensors` with what the optimiser keeps in our own layout,
 * `state.json` and `tokenizer.json`. It is written beside its place and renamed, so a folder of that name is whole.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../shared/errors.ts";
import type { OptimizerState } from "./optimizer.ts";
import { readSafetensors, writeSafetensors, type StoredTensor, type StoredTensors } from "./safetensors.ts";
import { headWidth, llamaStyle, weightShapes, type Shape } from "./transformer/weights.ts";

export type Weights = Readonly<Record<string, Float32Array>>;
export interface Checkpoint {
  readonly shape: Shape;
  readonly tokenizer: string;
  readonly weights: Weights;
  readonly optimizer: OptimizerState;
  readonly version: number;
}

const configSchema = z.object({
  model_type: z.literal("llama"),
  vocab_size: z.int().positive(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive(),
  intermediate_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
  tie_word_embeddings: z.boolean(),
  rope_theta: z.number().positive(),
  rms_norm_eps: z.number().positive(),
  gradus: z.object({ format: z.literal(1) }),
});
const stateSchema = z.object({
  version: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  optimizer: z.string(),
});
const tokenizerSchema = z.object({ gradus: z.string() });

function configOf(shape: Shape): z.output<typeof configSchema> & Record<string, unknown> {
  return {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    torch_dtype: "float32",
    hidden_act: "silu",
    bos_token_id: 1,
    eos_token_id: 2,
    pad_token_id: 0,
    vocab_size: shape.vocabulary,
    hidden_size: shape.width,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.kv_heads,
    head_dim: headWidth(shape),
    intermediate_size: shape.hidden,
    max_position_embeddings: shape.context,
    tie_word_embeddings: shape.tied,
    rope_theta: shape.rope_theta,
    rms_norm_eps: shape.epsilon,
    gradus: { format: 1 },
  };
}
const shapeOf = (config: z.output<typeof configSchema>): Shape => ({
  vocabulary: config.vocab_size,
  width: config.hidden_size,
  layers: config.num_hidden_layers,
  heads: config.num_attention_heads,
  kv_heads: config.num_key_value_heads,
  hidden: config.intermediate_size,
  context: config.max_position_embeddings,
  tied: config.tie_word_embeddings,
  head_width: config.hidden_size / config.num_attention_heads,
  rope_theta: config.rope_theta,
  epsilon: config.rms_norm_eps,
  style: llamaStyle(config.hidden_size / config.num_attention_heads),
});

// ───────────────────────────────────────────────────────────────── names and layouts

function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      result[column * rows + row] = data[row * columns + column]!;
  return result;
}

/** Column of `qkv` that holds row `row` of a projection: pairs lie apart by half a head there, side by side here. */
function pairColumn(row: number, width: number): number {
  const [head, within] = [Math.floor(row / width), row % width];
  const half = width / 2;
  return head * width + (within < half ? 2 * within : 2 * (within - half) + 1);
}

interface Projection {
  readonly name: "q" | "k" | "v";
  readonly rows: number;
  readonly start: number;
  readonly rotary: boolean;
}
function projections(shape: Shape): Projection[] {
  const width = headWidth(shape);
  const [queries, keys] = [shape.heads * width, shape.kv_heads * width];
  return [
    { name: "q", rows: queries, start: 0, rotary: true },
    { name: "k", rows: keys, start: queries, rotary: true },
    { name: "v", rows: keys, start: queries + keys, rotary: false },
  ];
}
/** Calls back with (index in the projection `[rows, width]`, index in `qkv` `[width, columns]`). */
function eachProjected(
  shape: Shape,
  { rows, start, rotary }: Projection,
  visit: (theirs: number, ours: number) => void,
): void {
  const columns = (shape.heads + 2 * shape.kv_heads) * headWidth(shape);
  for (let row = 0; row < rows; row++) {
    const column = start + (rotary ? pairColumn(row, headWidth(shape)) : row);
    for (let input = 0; input < shape.width; input++)
      visit(row * shape.width + input, input * columns + column);
  }
}

const plainNames: Readonly<Record<string, string>> = {
  norm1: "input_layernorm",
  norm2: "post_attention_layernorm",
  out: "self_attn.o_proj",
  gate: "mlp.gate_proj",
  up: "mlp.up_proj",
  down: "mlp.down_proj",
};
function publicName(name: string): string {
  if (name === "embedding") return "model.embed_tokens.weight";
  if (name === "norm") return "model.norm.weight";
  if (name === "head") return "lm_head.weight";
  const [layer, own] = name.split(".");
  return `model.layers.${layer}.${plainNames[own ?? ""] ?? own}.weight`;
}
const isTransposed = (name: string): boolean => /\.(out|gate|up|down)$/.test(name);

/** Weights by the names and in the layout of Hugging Face's Llama. */
export function toPublic(shape: Shape, weights: Weights): Record<string, StoredTensor> {
  const tensors: Record<string, StoredTensor> = {};
  for (const [name, extents] of Object.entries(weightShapes(shape))) {
    const data = weights[name]!;
    const [rows, columns] = extents;
    if (name.endsWith(".qkv")) {
      for (const projection of projections(shape)) {
        const own = new Float32Array(projection.rows * shape.width);
        eachProjected(shape, projection, (theirs, ours) => {
          own[theirs] = data[ours]!;
        });
        tensors[`model.layers.${name.split(".")[0]}.self_attn.${projection.name}_proj.weight`] = {
          shape: [projection.rows, shape.width],
          data: own,
        };
      }
    } else if (isTransposed(name))
      tensors[publicName(name)] = { shape: [columns!, rows!], data: transposed(data, rows!, columns!) };
    else tensors[publicName(name)] = { shape: extents, data };
  }
  return tensors;
}

/** @throws UserError naming the tensor that is missing or has other extents. */
export function fromPublic(shape: Shape, tensors: StoredTensors, file: string): Record<string, Float32Array> {
  const find = (name: string, extents: readonly number[]): Float32Array => {
    const found = tensors[name];
    if (found !== undefined && found.shape.join() === extents.join()) return found.data;
    throw new UserError(
      `${file}: ${name} should have the extents [${extents.join(", ")}] but ${found === undefined ? "is missing" : `has [${found.shape.join(", ")}]`}.`,
      {
        file,
        code: "checkpoint-tensor",
        action: "Use another checkpoint: the weights do not belong to this config.json.",
      },
    );
  };
  const weights: Record<string, Float32Array> = {};
  for (const [name, extents] of Object.entries(weightShapes(shape))) {
    const [rows, columns] = extents;
    if (name.endsWith(".qkv")) {
      const data = new Float32Array(rows! * columns!);
      for (const projection of projections(shape)) {
        const own = find(`model.layers.${name.split(".")[0]}.self_attn.${projection.name}_proj.weight`, [
          projection.rows,
          shape.width,
        ]);
        eachProjected(shape, projection, (theirs, ours) => {
          data[ours] = own[theirs]!;
        });
      }
      weights[name] = data;
    } else if (isTransposed(name))
      weights[name] = transposed(find(publicName(name), [columns!, rows!]), columns!, rows!);
    else weights[name] = find(publicName(name), extents);
  }
  return weights;
}

// ───────────────────────────────────────────────────────────────── folders

/** Writes the folder, replacing one of the same name only when the new one is whole. */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const { shape } = checkpoint;
  const beside = join(dirname(folder), `.${basename(folder)}.${process.pid}.part`);
  const former = `${beside}.old`;
  try {
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(beside, { recursive: true });
    writeSafetensors(join(beside, "model.safetensors"), toPublic(shape, checkpoint.weights), {
      format: "pt",
    });
    const { optimizer } = checkpoint;
    writeSafetensors(join(beside, "optimizer.safetensors"), optimizer.tensors);
    const json = (name: string, value: unknown): void =>
      writeFileSync(join(beside, name), `${JSON.stringify(value, null, 2)}\n`, { flush: true });
    json("config.json", configOf(shape));
    json("tokenizer.json", { gradus: checkpoint.tokenizer });
    json("state.json", {
      version: checkpoint.version,
      updates: optimizer.updates,
      optimizer: optimizer.method,
    });
    if (existsSync(folder)) renameSync(folder, former);
    renameSync(beside, folder);
    rmSync(former, { recursive: true, force: true });
  } catch (error) {
    if (existsSync(beside)) rmSync(beside, { recursive: true, force: true });
    if (existsSync(former) && !existsSync(folder)) renameSync(former, folder);
    throw new UserError(`The checkpoint ${folder} could not be written: ${messageOf(error)}.`, {
      file: folder,
      code: "checkpoint-write",
      action: "Free some space or check the folder's rights; the run goes on from its last checkpoint.",
      cause: error,
    });
  }
}

function readJson<T>(file: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason =
      error instanceof z.ZodError
        ? error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ")
        : messageOf(error);
    throw new UserError(`${file} does not describe a checkpoint: ${reason}.`, {
      file,
      code: "checkpoint-config",
      action: "Name a checkpoint folder that gradus wrote.",
      cause: error,
    });
  }
}

/** Whether a folder's config.json says that gradus wrote it. */
export function isCheckpoint(folder: string): boolean {
  const file = join(folder, "config.json");
  if (!existsSync(file)) return false;
  try {
    return (
      z.looseObject({ gradus: z.unknown() }).safeParse(JSON.parse(readFileSync(file, "utf8"))).data
        ?.gradus !== undefined
    );
  } catch (error) {
    throw new UserError(`${file} is not JSON: ${messageOf(error)}.`, {
      file,
      code: "checkpoint-config",
      action: "Name another checkpoint folder.",
      cause: error,
    });
  }
}

export interface CheckpointHead {
  readonly shape: Shape;
  readonly tokenizer: string;
}
/** What can be known without reading the weights. */
export function readCheckpointHead(folder: string): CheckpointHead {
  if (!existsSync(folder)) {
    throw new UserError(`There is no checkpoint ${folder}.`, {
      file: folder,
      code: "model-missing",
      action: "List a run's checkpoints with: gradus runs show RUN",
    });
  }
  return {
    shape: shapeOf(readJson(join(folder, "config.json"), configSchema)),
    tokenizer: readJson(join(folder, "tokenizer.json"), tokenizerSchema).gradus,
  };
}
export function readWeights(folder: string, shape: Shape): Record<string, Float32Array> {
  const file = join(folder, "model.safetensors");
  return fromPublic(shape, readSafetensors(file), file);
}
export function readCheckpoint(folder: string): Checkpoint {
  const head = readCheckpointHead(folder);
  const { version, updates, optimizer } = readJson(join(folder, "state.json"), stateSchema);
  const tensors = readSafetensors(join(folder, "optimizer.safetensors"));
  return {
    ...head,
    version,
    weights: readWeights(folder, head.shape),
    optimizer: { method: optimizer, updates, tensors },
  };
}
