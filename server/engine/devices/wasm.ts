/** The WebAssembly backend: the last resort, where no native library can be had. One thread, with SIMD. */
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { nativeRequire } from "../../lib/natives.ts";
import type { Core } from "./eager.ts";
import { EagerRuntime } from "./eagerRuntime.ts";

/** @throws UserError where the backend's package is missing or does not start. */
export async function openWasm(): Promise<EagerRuntime> {
  try {
    const require = nativeRequire();
    const tf: Core = require("@tensorflow/tfjs-core");
    require("@tensorflow/tfjs-backend-wasm");
    if (!(await tf.setBackend("wasm"))) throw new Error("tfjs did not accept the backend");
    await tf.ready();
    return new EagerRuntime(tf, "wasm", "CPU, one thread (WebAssembly)");
  } catch (error) {
    throw new UserError(`The WebAssembly backend does not start: ${messageOf(error)}.`, {
      code: "wasm-missing",
      action: "Run: gradus engine install",
      cause: error,
    });
  }
}
