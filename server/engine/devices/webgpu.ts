/**
 * The WebGPU backend: GPUs without CUDA, by Dawn (the npm package `webgpu`) over Vulkan, Metal or Direct3D 12 and
 * tfjs's kernels. The packages are optional; without an adapter that is a real GPU the backend is not chosen by itself.
 */
import { pathToFileURL } from "node:url";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { nativeRequire } from "../../lib/natives.ts";
import type { Core } from "./eager.ts";
import { EagerRuntime } from "./eagerRuntime.ts";

/** What is used of Dawn and of tfjs's backend beyond their types. */
interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly isFallbackAdapter: boolean;
}
interface Adapter {
  readonly info: AdapterInfo;
}
interface Gpu {
  requestAdapter(options?: { readonly powerPreference?: "high-performance" }): Promise<Adapter | null>;
}
interface Dawn {
  create(flags: readonly string[]): Gpu;
  readonly globals: Readonly<Record<string, unknown>>;
}
interface StagingBuffer {
  readonly size: number;
  readonly mapState: "unmapped" | "pending" | "mapped";
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
}
interface Stored {
  values: Float32Array | Int32Array | null | undefined;
  readonly dtype: string;
  readonly resource: StagingBuffer;
}
interface Backend {
  readonly tensorMap: { get(id: object): Stored };
  readonly bufferManager: {
    acquireBuffer(size: number, usage: number): StagingBuffer;
    releaseBuffer(buffer: StagingBuffer): void;
  };
  readonly commandEncoder: {
    copyBufferToBuffer(from: StagingBuffer, at: number, to: StagingBuffer, into: number, size: number): void;
  };
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
  readSync(id: object): Float32Array | Int32Array;
}
/** Of the WebGPU standard: GPUBufferUsage.MAP_READ | COPY_DST, and GPUMapMode.READ. */
const STAGING = 0x0001 | 0x0008;
const READ = 0x0001;

/** Dawn's callbacks that wait for the event loop. */
const waiting = new Set<() => void>();
/**
 * Dawn works off finished GPU work in native functions that it hands to `setImmediate`. They are handed on, and also
 * kept, so that a read may call them at once instead of giving the thread away: programs are synchronous.
 */
function catchTicks(): void {
  const isNative = (callback: () => void): boolean =>
    Function.prototype.toString.call(callback).includes("[native code]");
  globalThis.setImmediate = new Proxy(globalThis.setImmediate, {
    apply(later, self, [callback, ...args]: [() => void, ...unknown[]]) {
      if (!isNative(callback)) return Reflect.apply(later, self, [callback, ...args]);
      const once = (): void => {
        if (waiting.delete(once)) Reflect.apply(callback, undefined, args);
      };
      waiting.add(once);
      return Reflect.apply(later, self, [once]);
    },
  });
}
function finish(buffer: StagingBuffer): void {
  let failure: unknown;
  buffer.mapAsync(READ).catch((error: unknown) => {
    failure = error;
  });
  while (buffer.mapState === "pending") {
    const [tick] = waiting;
    if (tick === undefined) throw new Error("nothing waits for the GPU's answer");
    tick();
  }
  if (buffer.mapState !== "mapped")
    throw new Error(
      `the GPU did not return a value${failure === undefined ? "" : `: ${messageOf(failure)}`}`,
    );
}
/** In place of tfjs's own synchronous read, which goes through a canvas that Node does not have. */
function readSynchronously(backend: Backend): void {
  backend.readSync = (id) => {
    const stored = backend.tensorMap.get(id);
    if (stored.values) return stored.values;
    const { resource, dtype } = stored;
    const staging = backend.bufferManager.acquireBuffer(resource.size, STAGING);
    backend.ensureCommandEncoderReady();
    backend.endComputePassEncoder();
    backend.commandEncoder.copyBufferToBuffer(resource, 0, staging, 0, resource.size);
    backend.submitQueue();
    finish(staging);
    const bytes = staging.getMappedRange().slice(0);
    staging.unmap();
    backend.bufferManager.releaseBuffer(staging);
    const values = dtype === "float32" ? new Float32Array(bytes) : new Int32Array(bytes);
    stored.values = values;
    return values;
  };
}

interface WebGpuAdapter {
  readonly description: string;
  /** Computed by the CPU: right, but slow. */
  readonly software: boolean;
}
const describe = ({ vendor, architecture, description }: AdapterInfo): string =>
  [vendor, architecture, description].filter((part) => part !== "").join(", ");

let found: Promise<Adapter | null> | undefined;
/** Starts Dawn once per process, where its package is installed. */
async function startDawn(): Promise<Adapter | null> {
  const file = nativeRequire().resolve("webgpu");
  const { create, globals }: Dawn = await import(pathToFileURL(file).href);
  catchTicks();
  Object.assign(globalThis, globals);
  const gpu = create([]);
  // tfjs asks `navigator.gpu`; newer Node versions have a navigator without it.
  Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true, writable: true });
  return gpu.requestAdapter({ powerPreference: "high-performance" });
}

/**
 * The GPU that WebGPU would use; undefined where there is none.
 *
 * @throws where the packages are not installed, or Dawn does not load.
 */
export async function findAdapter(): Promise<WebGpuAdapter | undefined> {
  const adapter = await (found ??= startDawn());
  if (adapter === null) return undefined;
  return { description: describe(adapter.info), software: adapter.info.isFallbackAdapter };
}

/** @throws UserError where the packages are not installed, there is no adapter, or the backend does not start. */
export async function openWebGpu(): Promise<EagerRuntime> {
  try {
    const adapter = await findAdapter();
    if (adapter === undefined)
      throw new Error("Dawn finds no adapter: no Vulkan, Metal or Direct3D 12 driver");
    const require = nativeRequire();
    const tf: Core = require("@tensorflow/tfjs-core");
    require("@tensorflow/tfjs-backend-webgpu");
    if (!(await tf.setBackend("webgpu"))) throw new Error("tfjs did not accept the backend");
    await tf.ready();
    const backend: unknown = tf.backend();
    readSynchronously(backend as Backend);
    return new EagerRuntime(tf, "webgpu", `GPU (WebGPU: ${adapter.description})`);
  } catch (error) {
    throw new UserError(`The WebGPU backend does not start: ${messageOf(error).split("\n")[0] ?? ""}.`, {
      code: "webgpu-missing",
      action:
        "Install a driver, and the packages by `gradus engine install --webgpu`; or set engine.backend to auto.",
      cause: error,
    });
  }
}
