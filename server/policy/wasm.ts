/** The WebAssembly runtime: the last resort, where no native library can be had. One thread, with SIMD. */
import type { Tensor } from "@tensorflow/tfjs-core";
import { messageOf, UserError } from "../../shared/errors.ts";
import { nativeRequire } from "../natives.ts";
import { EagerOps, type Core } from "./eager.ts";
import type { DeviceTensor, Dtype, Program, ProgramSpec, Runtime, Tensors } from "./runtime.ts";

class WasmTensor implements DeviceTensor {
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

class WasmProgram implements Program {
  private readonly ops: EagerOps;
  constructor(
    private readonly tf: Core,
    private readonly spec: ProgramSpec,
  ) {
    this.ops = new EagerOps(tf);
  }
  run(feeds: Tensors): Record<string, DeviceTensor> {
    const inputs = Object.fromEntries(
      Object.keys(this.spec.feeds).map((name) => {
        const feed = feeds[name];
        if (!(feed instanceof WasmTensor)) throw new Error(`internal: ${this.spec.name} is not fed ${name}`);
        return [name, feed.tensor];
      }),
    );
    const results = this.tf.tidy(() => {
      const built = this.spec.build<Tensor>(this.ops, inputs);
      // A result that is a feed, or another result, becomes a handle of its own.
      return Object.fromEntries(Object.entries(built).map(([name, tensor]) => [name, tensor.clone()]));
    });
    return Object.fromEntries(
      Object.entries(results).map(([name, tensor]) => [name, new WasmTensor(tensor)]),
    );
  }
}

class WasmRuntime implements Runtime {
  readonly name = "wasm";
  readonly device = "CPU, one thread (WebAssembly)";
  readonly streams = 1;
  constructor(private readonly tf: Core) {}
  compile(spec: ProgramSpec): Program {
    return new WasmProgram(this.tf, spec);
  }
  upload(data: Float32Array | Float64Array | Int32Array, shape: readonly number[]): DeviceTensor {
    const integers = data instanceof Int32Array;
    const values = data instanceof Float64Array ? Float32Array.from(data) : data;
    return new WasmTensor(this.tf.tensor(values, [...shape], integers ? "int32" : "float32"));
  }
  tensors(): number {
    return this.tf.memory().numTensors;
  }
  close(): void {
    // The backend belongs to the process: another policy may use it.
  }
}

/** @throws UserError where the backend's package is missing or does not start. */
export async function openWasm(): Promise<Runtime> {
  try {
    const require = nativeRequire();
    const tf: Core = require("@tensorflow/tfjs-core");
    require("@tensorflow/tfjs-backend-wasm");
    if (!(await tf.setBackend("wasm"))) throw new Error("tfjs did not accept the backend");
    await tf.ready();
    return new WasmRuntime(tf);
  } catch (error) {
    throw new UserError(`The WebAssembly backend does not start: ${messageOf(error)}.`, {
      code: "wasm-missing",
      action: "Run: npm run setup",
      cause: error,
    });
  }
}
