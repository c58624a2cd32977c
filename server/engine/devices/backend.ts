/**
 * Which runtime computes. By itself: native TensorFlow where it loads, on the GPU where its library has one; else WebGPU
 * where there is a GPU for it; else WebAssembly, with what would fix it. WebGPU runs op by op and was never measured
 * against native TensorFlow on a CPU, so it does not come before it.
 */
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { slower } from "../../../shared/lib/systemWords.mjs";
import { engineFix, setupRecord } from "../../lib/natives.ts";
import { loadBinding, NativeRuntime, type Binding } from "./native.ts";
import type { Backend } from "../policySetup.ts";
import type { Precision } from "../graph/writer.ts";
import type { Runtime } from "./runtime.ts";
import { ResidentRuntime } from "./resident.ts";
import { openWasm } from "./wasm.ts";
import type { EagerRuntime } from "./eagerRuntime.ts";
import { findAdapter, openWebGpu } from "./webgpu.ts";

export type BackendChoice = "auto" | "native" | "webgpu" | "wasm";

/** What `gradus doctor` prints. */
export interface BackendProbe extends Backend {
  /** What is absent for the fast backend; undefined where nothing is. */
  readonly missing: string | undefined;
  /** What fixes it. */
  readonly fix: string | undefined;
}

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
/** Why there is none and what helps, as set-up found it; the command that sets up where it has not run. */
function withoutNative(problem: string): { readonly missing: string; readonly fix: string } {
  const { backend, reason, mend } = setupRecord()?.engine ?? {};
  return { missing: backend === "wasm" && reason !== undefined ? reason : problem, fix: mend ?? engineFix() };
}
/** One line of what went wrong; the package's own advice does not apply here. */
function problemOf(message: string): string {
  const first = (message.split("\n")[0] ?? message).trim().replace(/[.]$/, "");
  if (message.includes("native addon module")) return "the native engine is not installed";
  return `native TensorFlow does not load (${first})`;
}

/** For tests. */
export interface NativeOptions {
  readonly precision?: Precision | undefined;
  /** Values stay in the session, as on a GPU. */
  readonly resident?: boolean | undefined;
}
interface OpenedBackend {
  readonly runtime: Runtime;
  readonly backend: Backend;
}
const opened = (runtime: Runtime, reason: string): OpenedBackend => ({
  runtime,
  backend: { name: runtime.name, device: runtime.device, reason },
});
const ASKED = "the config asks for it";

/** WebGPU, where its packages are and a GPU that is not the CPU in disguise. */
async function openWebGpuIfReal(): Promise<EagerRuntime | undefined> {
  try {
    const adapter = await findAdapter();
    return adapter === undefined || adapter.software ? undefined : await openWebGpu();
  } catch {
    // Not installed, or no driver: both are ordinary, and `gradus engine status` says which.
    return undefined;
  }
}

/**
 * @throws UserError where the backend that was asked for does not start.
 */
export async function openBackend(
  choice: BackendChoice,
  threads: number | undefined,
  parameters: number,
  { precision, resident }: NativeOptions = {},
): Promise<OpenedBackend> {
  if (choice === "wasm") return opened(await openWasm(), ASKED);
  if (choice === "webgpu") return opened(await openWebGpu(), ASKED);
  const native = tryNative(parameters, threads);
  if (native.usable) {
    const { binding } = native;
    const gpu = binding.isUsingGpuDevice();
    // 64 bits are for tests, which hand values over; a card's own kernels are for 32.
    const runtime =
      precision !== "float64" && (gpu || resident === true)
        ? new ResidentRuntime(binding, gpu ? "GPU" : "CPU")
        : new NativeRuntime({ threads, parameters, precision });
    return opened(runtime, choice === "native" ? ASKED : "TensorFlow's native library");
  }
  if (choice === "native") {
    const { missing, fix } = withoutNative(native.problem);
    throw new UserError(`engine.backend is native, but ${missing}.`, {
      code: "native-missing",
      action: `To fix it: ${fix}. Or set engine.backend to auto.`,
      cause: native.cause,
    });
  }
  const webgpu = await openWebGpuIfReal();
  if (webgpu !== undefined) return opened(webgpu, `${native.problem}; there is a GPU for WebGPU`);
  const { missing, fix } = withoutNative(native.problem);
  return opened(await openWasm(), `${missing}; WebAssembly is ${slower}. To fix it: ${fix}`);
}

/** Loads what a run would load, in this process, and says what it found. */
export async function probeBackend(choice: BackendChoice = "auto", threads?: number): Promise<BackendProbe> {
  const wanted = choice === "auto" || choice === "native";
  const native = wanted ? tryNative(0, threads) : undefined;
  if (native?.usable === false && choice === "native")
    return { name: "native", device: "none", reason: ASKED, ...withoutNative(native.problem) };
  const { runtime, backend } = await openBackend(choice, threads, 0);
  runtime.close();
  return native?.usable === false
    ? { ...backend, ...withoutNative(native.problem) }
    : { ...backend, missing: undefined, fix: undefined };
}
