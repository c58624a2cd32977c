/** The WebAssembly backend: the last resort, where no native library can be had. One thread, with SIMD. */
import { join } from "node:path";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { carriedFolder } from "../../lib/carried.ts";
import type * as Wasm from "@tensorflow/tfjs-backend-wasm";
import type { Core } from "./eager.ts";
import { EagerRuntime } from "./eagerRuntime.ts";

/** Of a CommonJS module, which a bundle has under `default` alone. */
const exportsOf = <T extends object>(loaded: T & { readonly default?: T }): T => loaded.default ?? loaded;

/** @throws UserError where the backend's package is missing or does not start. */
export async function openWasm(): Promise<EagerRuntime> {
  try {
    const tf = exportsOf<Core>(await import("@tensorflow/tfjs-core"));
    const { setWasmPaths } = exportsOf<typeof Wasm>(await import("@tensorflow/tfjs-backend-wasm"));
    setWasmPaths(join(carriedFolder("@tensorflow/tfjs-backend-wasm"), "dist", "/"));
    if (!(await tf.setBackend("wasm"))) throw new Error("tfjs did not accept the backend");
    await tf.ready();
    return new EagerRuntime(tf, "wasm", "CPU, one thread (WebAssembly)");
  } catch (error) {
    throw new UserError(`The WebAssembly backend does not start: ${messageOf(error)}.`, {
      code: "wasm-missing",
      action: "Install Gradus again",
      cause: error,
    });
  }
}
