/**
 * A Llama decoder in plain 64-bit arithmetic, from the public description alone: matrices `[out, in]`, half-split
 * rotation, one row at a time. It reads a checkpoint's public tensors, so it also checks their layout.
 */
import type { StoredTensors } from "../../../server/engine/weights/safetensors.ts";
import type { Shape } from "../../../server/engine/transformer/weights.ts";

type Vector = Float64Array;
export type Public = Readonly<Record<string, Float64Array>>;
export const widen = (tensors: StoredTensors): Record<string, Float64Array> =>
  Object.fromEntries(Object.entries(tensors).map(([name, { data }]) => [name, Float64Array.from(data)]));

function apply(matrix: Vector, x: Vector): Vector {
  const out = new Float64Array(matrix.length / x.length);
  for (let row = 0; row < out.length; row++)
    for (let i = 0; i < x.length; i++) out[row]! += matrix[row * x.length + i]! * x[i]!;
  return out;
}
function norm(x: Vector, gain: Vector, epsilon: number): Vector {
  const square = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  return x.map((value, i) => (value / Math.sqrt(square + epsilon)) * gain[i]!);
}
function rotated(x: Vector, position: number, theta: number): Vector {
  const half = x.length / 2;
  return x.map((value, i) => {
    const angle = position * theta ** (-(i % half) / half);
    const other = i < half ? -x[i + half]! : x[i - half]!;
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}
function softmax(x: Vector): Vector {
  const most = Math.max(...x);
  const e = x.map((value) => Math.exp(value - most));
  const total = e.reduce((sum, value) => sum + value, 0);
  return e.map((value) => value / total);
}
const dot = (a: Vector, b: Vector): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Final states, after the last norm, at every position of a row. `reads` gets what each feed-forward is given. */
export function statesOf(
  shape: Shape,
  weights: Public,
  tokens: readonly number[],
  reads: (layer: number, states: Vector[]) => void = () => undefined,
): Vector[] {
  const get = (name: string): Vector => weights[name] ?? new Float64Array();
  const width = shape.width / shape.heads;
  const embedding = get("model.embed_tokens.weight");
  let states: Vector[] = tokens.map((token) =>
    embedding.slice(token * shape.width, (token + 1) * shape.width),
  );
  for (let layer = 0; layer < shape.layers; layer++) {
    const own = (name: string): Vector => get(`model.layers.${layer}.${name}.weight`);
    const normed = states.map((x) => norm(x, own("input_layernorm"), shape.epsilon));
    const heads = (name: string, turn: boolean): Vector[][] =>
      normed.map((x, position) => {
        const all = apply(own(`self_attn.${name}_proj`), x);
        return Array.from({ length: all.length / width }, (_, head) => {
          const part = all.slice(head * width, (head + 1) * width);
          return turn ? rotated(part, position, shape.rope_theta) : part;
        });
      });
    const [q, k, v] = [heads("q", true), heads("k", true), heads("v", false)];
    states = states.map((x, t) => {
      const mixed = new Float64Array(shape.width);
      for (let head = 0; head < shape.heads; head++) {
        const shared = Math.floor(head / (shape.heads / shape.kv_heads));
        const p = softmax(
          Float64Array.from(
            { length: t + 1 },
            (_, s) => dot(q[t]![head]!, k[s]![shared]!) / Math.sqrt(width),
          ),
        );
        p.forEach((weight, s) => {
          for (let i = 0; i < width; i++) mixed[head * width + i]! += weight * v[s]![shared]![i]!;
        });
      }
      const attended = apply(own("self_attn.o_proj"), mixed);
      return x.map((value, i) => value + attended[i]!);
    });
    const given = states.map((x) => norm(x, own("post_attention_layernorm"), shape.epsilon));
    reads(layer, given);
    states = states.map((x, t) => {
      const y = given[t]!;
      const up = apply(own("mlp.up_proj"), y);
      const hidden = apply(own("mlp.gate_proj"), y).map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!);
      const down = apply(own("mlp.down_proj"), hidden);
      return x.map((value, i) => value + down[i]!);
    });
  }
  return states.map((x) => norm(x, get("model.norm.weight"), shape.epsilon));
}

/** Logits at every position of a row. */
export function logitsOf(shape: Shape, weights: Public, tokens: readonly number[]): Vector[] {
  const head = weights[shape.tied ? "model.embed_tokens.weight" : "lm_head.weight"] ?? new Float64Array();
  return statesOf(shape, weights, tokens).map((state) => apply(head, state));
}

/** logp, entropy and logsumexp of each token after a row's context. */
export function channelsOf(
  shape: Shape,
  weights: Public,
  context: readonly number[],
  tokens: readonly number[],
): Record<"logp" | "entropy" | "logsumexp", number[]> {
  const logits = logitsOf(shape, weights, [...context, ...tokens]);
  const result = { logp: [] as number[], entropy: [] as number[], logsumexp: [] as number[] };
  tokens.forEach((token, i) => {
    const row = logits[context.length - 1 + i]!;
    const most = Math.max(...row);
    const lse = most + Math.log(row.reduce((sum, value) => sum + Math.exp(value - most), 0));
    result.logp.push(row[token]! - lse);
    result.logsumexp.push(lse);
    result.entropy.push(-row.reduce((sum, value) => sum + Math.exp(value - lse) * (value - lse), 0));
  });
  return result;
}
