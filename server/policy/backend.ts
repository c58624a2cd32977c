/** Which runtime computes: native TensorFlow where it loads, else WebAssembly, and what would mend it. */
import { messageOf, UserError } from "../../shared/errors.ts";
import { loadBinding, NativeRuntime, type Binding } from "./native.ts";
import type { Backend } from "./policy.ts";
import type { Precision } from "./graph/writer.ts";
import type { Runtime } from "./runtime.ts";
import { ResidentRuntime } from "./resident.ts";
import { openWasm } from "./wasm.ts";

export type BackendChoice = "auto" | "native" | "wasm";

/** What `gradus doctor` prints. */
export interface BackendProbe extends Backend {
  /** What is absent for the fast backend; undefined where nothing is. */
  readonly missing: string | undefined;
  /** The command that mends it. */
  readonly mend: string | undefined;
}

const MEND = "npm run setup";

type Native =
  | { readonly usable: true; readonly binding: Binding }
  | { readonly usable: false; readonly problem: string; readonly cause: unknown };
function tryNative(parameters: number, threads: number | undefined): Native {
  try {
    return { usable: true, binding: loadBinding(parameters, threads) };
  } catch (error) {
    return { usable: false, problem: problemOf(messageOf(error)), cause: error };
  }
}
/** One line of what went wrong; the package's own advice does not apply here. */
function problemOf(message: string): string {
  const first = (message.split("\n")[0] ?? message).trim().replace(/[.]$/, "");
  if (message.includes("native addon module")) return "the native TensorFlow addon is not built";
  if (message.includes("Cannot find module") || message.includes("Cannot find package"))
    return "@tensorflow/tfjs-node-gpu is not installed";
  return `native TensorFlow does not load (${first})`;
}

/** For tests. */
export interface NativeOptions {
  readonly precision?: Precision | undefined;
  /** Values stay in the session, as on a GPU. */
  readonly resident?: boolean | undefined;
}
export interface OpenedBackend {
  readonly runtime: Runtime;
  readonly backend: Backend;
}
export async function openBackend(
  choice: BackendChoice,
  threads: number | undefined,
  parameters: number,
  { precision, resident }: NativeOptions = {},
): Promise<OpenedBackend> {
  if (choice !== "wasm") {
    const native = tryNative(parameters, threads);
    if (native.usable) {
      const { binding } = native;
      const gpu = binding.isUsingGpuDevice();
      const runtime =
        gpu || resident === true
          ? new ResidentRuntime(binding, gpu ? "GPU" : "CPU")
          : new NativeRuntime({ threads, parameters, precision });
      return {
        runtime,
        backend: {
          name: "native",
          device: runtime.device,
          reason: choice === "native" ? "the config asks for it" : "TensorFlow's native library loads",
        },
      };
    }
    if (choice === "native") {
      throw new UserError(`engine.backend is native, but ${native.problem}.`, {
        code: "native-missing",
        action: `Run: ${MEND} (or set engine.backend to auto).`,
        cause: native.cause,
      });
    }
    const runtime = await openWasm();
    return {
      runtime,
      backend: {
        name: "wasm",
        device: runtime.device,
        reason: `${native.problem}; WebAssembly is slower. To mend it: ${MEND}`,
      },
    };
  }
  const runtime = await openWasm();
  return { runtime, backend: { name: "wasm", device: runtime.device, reason: "the config asks for it" } };
}

/** Loads what a run would load, in this process, and says what it found. */
export async function probeBackend(choice: BackendChoice = "auto", threads?: number): Promise<BackendProbe> {
  const native = choice === "wasm" ? undefined : tryNative(0, threads);
  if (native?.usable === false && choice === "native") {
    return {
      name: "native",
      device: "none",
      reason: "the config asks for it",
      missing: native.problem,
      mend: MEND,
    };
  }
  const { runtime, backend } = await openBackend(choice, threads, 0);
  runtime.close();
  return native?.usable === false
    ? { ...backend, missing: native.problem, mend: MEND }
    : { ...backend, missing: undefined, mend: undefined };
}
