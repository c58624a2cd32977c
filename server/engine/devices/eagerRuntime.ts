/** A runtime that carries programs out op by op with the kernels of a tfjs backend: WebAssembly or WebGPU. */
import type { Tensor } from "@tensorflow/tfjs-core";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { EagerOps, type Core } from "./eager.ts";
import type { DeviceTensor, Dtype, Program, ProgramSpec, Runtime, Tensors } from "./runtime.ts";

type EagerName = "wasm" | "webgpu";

class EagerTensor implements DeviceTensor {
  constructor(readonly tensor: Tensor) {}
  get shape(): readonly number[] {
    return this.tensor.shape;
  }
  get dtype(): Dtype {
    return this.tensor.dtype === "int32" ? "int" : "float";
  }
  read(): Float32Array | Int32Array {
    const data = this.tensor.dataSync();
    // A view of the module's memory would move when that memory grows.
    return this.dtype === "int" ? Int32Array.from(data) : Float32Array.from(data);
  }
  free(): void {
    this.tensor.dispose();
  }
}

/** Kernels that a backend may lack, what is used instead, and for what. */
const substitutes = [
  {
    kernel: "UnsortedSegmentSum",
    operation: "the gradient of the embedding",
    substitute: "ScatterNd, which adds up rows of equal index",
  },
] as const;

interface MissingKernel {
  readonly kernel: string;
  readonly operation: string;
  /** What is used in its place. */
  readonly substitute: string;
}
/** Kernels of the engine's operations that this backend lacks. */
export function missingKernels(tf: Core, backend: EagerName): readonly MissingKernel[] {
  return substitutes.filter(({ kernel }) => tf.getKernel(kernel, backend) === undefined);
}

/** tfjs says which kernel it lacks; what can be done about it is said here. */
function kernelError(error: unknown, program: string): unknown {
  const found = /Kernel '(\w+)' not registered for backend '(\w+)'/.exec(messageOf(error));
  if (found === null) return error;
  const [, kernel = "", backend = ""] = found;
  return new UserError(
    `The ${backend} backend has no kernel ${kernel}, which the ${program} program needs, and no substitute for it is known.`,
    {
      code: "kernel-missing",
      action: "Set engine.backend: native, and report this message with the model's architecture.",
      cause: error,
    },
  );
}

class EagerProgram implements Program {
  constructor(
    private readonly runtime: EagerRuntime,
    private readonly spec: ProgramSpec,
  ) {}
  run(feeds: Tensors): Record<string, DeviceTensor> {
    const inputs = Object.fromEntries(
      Object.keys(this.spec.feeds).map((name) => {
        const feed = feeds[name];
        if (!(feed instanceof EagerTensor)) throw new Error(`internal: ${this.spec.name} is not fed ${name}`);
        return [name, feed.tensor];
      }),
    );
    const results = this.runtime.compute(this.spec.name, (ops) => this.spec.build<Tensor>(ops, inputs));
    return Object.fromEntries(
      Object.entries(results).map(([name, tensor]) => [name, new EagerTensor(tensor)]),
    );
  }
}

export class EagerRuntime implements Runtime {
  readonly streams = 1;
  private readonly ops: EagerOps;
  constructor(
    readonly tf: Core,
    readonly name: EagerName,
    readonly device: string,
  ) {
    const missing = new Set(missingKernels(tf, name).map(({ kernel }) => kernel));
    this.ops = new EagerOps(tf, { segmentSum: !missing.has("UnsortedSegmentSum") });
  }
  /** tfjs has one current backend for the process: two runtimes take turns. The backend is there, so this is at once. */
  private makeCurrent(): void {
    if (this.tf.getBackend() !== this.name) void this.tf.setBackend(this.name);
  }
  compute(
    program: string,
    build: (ops: EagerOps) => Readonly<Record<string, Tensor>>,
  ): Record<string, Tensor> {
    this.makeCurrent();
    try {
      return this.tf.tidy(() =>
        // A result that is a feed, or another result, becomes a handle of its own.
        Object.fromEntries(Object.entries(build(this.ops)).map(([name, tensor]) => [name, tensor.clone()])),
      );
    } catch (error) {
      throw kernelError(error, program);
    }
  }
  compile(spec: ProgramSpec): Program {
    return new EagerProgram(this, spec);
  }
  upload(data: Float32Array | Float64Array | Int32Array, shape: readonly number[]): DeviceTensor {
    this.makeCurrent();
    const integers = data instanceof Int32Array;
    const values = data instanceof Float64Array ? Float32Array.from(data) : data;
    return new EagerTensor(this.tf.tensor(values, [...shape], integers ? "int32" : "float32"));
  }
  copy(data: Float32Array, shape: readonly number[]): DeviceTensor {
    return this.upload(data.slice(), shape);
  }
  tensors(): number {
    return this.tf.memory().numTensors;
  }
  close(): void {
    // The backend belongs to the process: another policy may use it.
  }
}
