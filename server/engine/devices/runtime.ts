/**
 * What the policy needs of a machine: values that live there, and programs over them. A program is a pure function
 * of its feeds, written once against `Ops` and carried out either as one TensorFlow graph (native) or op by op
 * (WebAssembly, WebGPU). Weights, optimiser state and KV caches are device values like any other, so a snapshot of the
 * weights is a second owner of the same values and a failed step leaves nothing half-written.
 */
import type { Named, Ops } from "../../core/ops.ts";

export type Dtype = "float" | "int";

/** A value on the device. Freed by `free` only: garbage collection knows nothing of it. */
export interface DeviceTensor {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  /** Copies the value to this side; 64-bit floats from a runtime that computes in them. */
  read(): Float32Array | Float64Array | Int32Array;
  free(): void;
}
export type Tensors = Named<DeviceTensor>;

export interface ProgramSpec {
  readonly name: string;
  /** Element type and rank of each feed; extents may differ from run to run. */
  readonly feeds: Named<{ readonly dtype: Dtype; readonly rank: number }>;
  /**
   * Floats that cross to or from this side in every run, by their names inside a stream: coefficients, what is read of
   * each token. Scalars that are fed do so anyway. A runtime with a device of its own keeps all others there.
   */
  readonly crossing?: readonly string[];
  build<T>(ops: Ops<T>, feeds: Named<T>): Named<T>;
}

export interface Program {
  /** The feeds stay the caller's; the results are the caller's to free. Blocks this thread. */
  run(feeds: Tensors): Record<string, DeviceTensor>;
}

export interface Runtime {
  readonly name: "native" | "wasm" | "webgpu";
  readonly device: string;
  /** Independent parts a program should be cut into so that all cores work (1: the runtime is serial). */
  readonly streams: number;
  compile(spec: ProgramSpec): Program;
  /** The array must not be written to afterwards: the device may share its memory. */
  upload(data: Float32Array | Float64Array | Int32Array, shape: readonly number[]): DeviceTensor;
  /** The same for an array that is written to again. */
  copy(data: Float32Array, shape: readonly number[]): DeviceTensor;
  /** Handles alive on the device, this runtime's own included. */
  tensors(): number;
  close(): void;
}

export const freeAll = (tensors: Tensors): void => {
  for (const tensor of Object.values(tensors)) tensor.free();
};

/** The values whose names begin with a prefix, under the rest of their names. */
export function under<T>(values: Named<T>, prefix: string): Record<string, T> {
  const found: Record<string, T> = {};
  for (const [name, value] of Object.entries(values))
    if (name.startsWith(prefix)) found[name.slice(prefix.length)] = value;
  return found;
}

export function prefixed<T>(prefix: string, values: Named<T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

/** Floats of a device value as they are there; an error where it holds integers. */
export function exactFloats(tensor: DeviceTensor): Float32Array | Float64Array {
  const data = tensor.read();
  if (data instanceof Int32Array) throw new Error("internal: expected floats");
  return data;
}

/** Floats of a device value in 32 bits; an error where it holds integers. */
export function floats(tensor: DeviceTensor): Float32Array {
  const data = exactFloats(tensor);
  return data instanceof Float32Array ? data : Float32Array.from(data);
}
