/** Rotary angles and sliding windows in `config.json`: in the keys of transformers 4 and of 5. */
import type { Shape, Style } from "../../transformer/weights.ts";
import { notComputed, refusal, type Config, type Defaults } from "./config.ts";

type Scaling = Style["rope_scaling"];
type Parameters = Readonly<Record<string, unknown>>;

const isParameters = (value: unknown): value is Parameters => typeof value === "object" && value !== null;

/** Of full attention: `rope_parameters` may be one table for all layers or one for each kind of them. */
function parametersOf(config: Config, kind: "full_attention" | "sliding_attention"): Parameters {
  const all = config.rope_parameters ?? {};
  const own = all[kind];
  if (isParameters(own)) return own;
  return kind === "full_attention" ? { ...all, ...config.rope_scaling } : {};
}

/** θ and scaling of the layers that see everything. */
export function ropeOf(
  file: string,
  config: Config,
  defaults: Defaults,
): { theta: number; scaling: Scaling } {
  if (defaults.family === "gpt2") return { theta: defaults.rope_theta, scaling: null };
  const parameters = { ...parametersOf(config, "full_attention"), ...config.rope_scaling };
  const number = (key: string): number => {
    const value = parameters[key];
    if (typeof value === "number" && value > 0) return value;
    throw refusal(
      file,
      `the rope scaling's ${key}`,
      value === undefined ? "is missing" : "is not a positive number",
    );
  };
  const theta =
    parameters["rope_theta"] === undefined
      ? (config.rope_theta ?? defaults.rope_theta)
      : number("rope_theta");
  const partial = parameters["partial_rotary_factor"] ?? 1;
  if (partial !== 1)
    throw notComputed(file, "partial_rotary_factor", partial, "rotary positions on a part of each head");
  const type = parameters["rope_type"] ?? parameters["type"] ?? "default";
  if (type === "default") return { theta, scaling: null };
  if (type === "linear") return { theta, scaling: { type, factor: number("factor") } };
  if (type === "llama3")
    return {
      theta,
      scaling: {
        type,
        factor: number("factor"),
        low_freq_factor: number("low_freq_factor"),
        high_freq_factor: number("high_freq_factor"),
        original_context: number("original_max_position_embeddings"),
      },
    };
  throw notComputed(file, "rope_type", type, ropeNames[String(type)]);
}
/** Scalings that are not computed here. */
const ropeNames: Readonly<Record<string, string>> = {
  yarn: "YaRN, for contexts beyond those of the training",
  dynamic: "NTK scaling by the length of the text",
  longrope: "LongRoPE",
  su: "LongRoPE",
  mrope: "positions in pictures",
  proportional: "rotary positions on a part of each head",
};

/** Which layers are local, where the file does not list them. */
function localLayers(config: Config, { family }: Defaults): boolean[] {
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer);
  if (family === "mistral") return layers.map(() => true);
  const types = config.layer_types;
  if (types != null) return layers.map((layer) => types[layer] === "sliding_attention");
  if (family === "gemma3")
    return layers.map((layer) => (layer + 1) % (config.sliding_window_pattern ?? 6) !== 0);
  return layers.map((layer) => layer >= (config.max_window_layers ?? 28));
}

/** The sliding window; null where no layer has one. */
export function windowOf(file: string, config: Config, defaults: Defaults, theta: number): Style["window"] {
  const { family } = defaults;
  if (family === "llama" || family === "gpt2") return null;
  if (family.startsWith("qwen") && config.use_sliding_window !== true) return null;
  const tokens = config.sliding_window === undefined ? defaults.window : config.sliding_window;
  if (tokens == null) return null;
  const layers = localLayers(config, defaults);
  if (!layers.includes(true)) return null;
  const own = parametersOf(config, "sliding_attention")["rope_theta"];
  const local = typeof own === "number" ? own : (config.rope_local_base_freq ?? 10_000);
  if (family !== "gemma3" && ropeOf(file, config, defaults).scaling !== null)
    throw refusal(file, "rope_scaling", "together with a sliding window is not computed by this engine");
  return { tokens, layers, rope_theta: family === "gemma3" ? local : theta };
}

/** The way back, in the older keys, which every version reads. */
export function ropeKeys({ rope_theta, style }: Shape): Record<string, unknown> {
  const { rope_scaling: scaling } = style;
  if (scaling === null) return { rope_theta, rope_scaling: null };
  const { type, factor } = scaling;
  if (type === "linear") return { rope_theta, rope_scaling: { rope_type: type, factor } };
  return {
    rope_theta,
    rope_scaling: {
      rope_type: type,
      factor,
      low_freq_factor: scaling.low_freq_factor,
      high_freq_factor: scaling.high_freq_factor,
      original_max_position_embeddings: scaling.original_context,
    },
  };
}
export function windowKeys({ style, layers }: Shape): Record<string, unknown> {
  const { family, window } = style;
  if (family === "llama" || family === "gpt2") return {};
  const types = Array.from({ length: layers }, (_, layer) =>
    window?.layers[layer] === true ? "sliding_attention" : "full_attention",
  );
  if (family === "mistral") return { sliding_window: window?.tokens ?? null };
  if (family === "gemma3")
    return {
      sliding_window: window?.tokens ?? null,
      rope_local_base_freq: window?.rope_theta ?? 10_000,
      layer_types: types,
    };
  return {
    use_sliding_window: window !== null,
    sliding_window: window?.tokens ?? null,
    ...(window === null ? {} : { layer_types: types }),
  };
}
