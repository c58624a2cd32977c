/** The native runtime: programs as TensorFlow graphs, run by the addon of @tensorflow/tfjs-node-gpu. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { engineAddon, nativeRequire } from "../../lib/natives.ts";
import { Graph } from "../graph/graph.ts";
import type { Precision } from "../graph/writer.ts";
import { dataType } from "../graph/protobuf.ts";
import { Sessions, type SharedSession } from "./sessions.ts";
import type { DeviceTensor, Dtype, Program, ProgramSpec, Runtime, Tensors } from "./runtime.ts";

export interface TensorInfo {
  readonly id: number;
  readonly shape: readonly number[];
  readonly dtype: number;
}
/** What is used of the addon (`binding/tfjs_binding.cc` of the package). */
export interface Binding {
  createTensor(shape: readonly number[], dtype: number, data: Float32Array | Int32Array): number;
  deleteTensor(id: number): void;
  tensorDataSync(id: number): Float32Array | Int32Array;
  loadSavedModel(folder: string, tags: string): number;
  deleteSavedModel(id: number): void;
  runSavedModel(
    model: number,
    inputs: readonly number[],
    inputNames: string,
    outputNames: string,
  ): TensorInfo[];
  getNumOfTensors(): number;
  isUsingGpuDevice(): boolean;
}

/** Above this many parameters the operations are large enough to use all threads themselves. */
const STREAMED_PARAMETERS = 10e6;
/** As many parts of a batch run at once, at most. */
export const MOST_STREAMS = 8;

/**
 * What TensorFlow reads from the environment when it is loaded. Independent streams on one thread each beat one
 * stream on many threads while operations are small: a batch is cut into streams, and as many operations run at once.
 * A process that is started for a run is best given these from the start.
 */
export function threadSettings(parameters: number, threads = availableParallelism()): Record<string, string> {
  const streamed = parameters <= STREAMED_PARAMETERS;
  return {
    TF_NUM_INTRAOP_THREADS: String(streamed ? 1 : threads),
    TF_NUM_INTEROP_THREADS: String(threads),
    TF_CPP_MIN_LOG_LEVEL: "2",
    // A card may also drive the screen: its memory is taken as it is needed, not all at once.
    TF_FORCE_GPU_ALLOW_GROWTH: "true",
  };
}

/** What the process was started with stays. */
function prepareEnvironment(parameters: number, threads: number | undefined): void {
  for (const [name, value] of Object.entries(threadSettings(parameters, threads)))
    process.env[name] ??= value;
}

/**
 * The addon in the engine's folder, next to the library that it was linked with. tfjs's own entry point is not used: it loads all
 * of tfjs first, more than a second's work of which nothing is needed here, and calls helpers that newer Node versions dropped.
 */
function addonFile(): string {
  const file = engineAddon();
  if (file === undefined) throw new Error("no native addon module is set up");
  if (!existsSync(file)) throw new Error(`the native addon module ${file} does not exist`);
  return file;
}

let loaded: Binding | undefined;
const sessions = new Sessions((id) => loaded?.deleteSavedModel(id));
/** Loads the addon once per process. Throws what the loader throws when it or its library is missing. */
export function loadBinding(parameters: number, threads: number | undefined): Binding {
  if (loaded !== undefined) return loaded;
  prepareEnvironment(parameters, threads);
  const binding: Binding = nativeRequire()(addonFile());
  loaded = binding;
  return binding;
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/**
 * TensorFlow takes arrays over that begin at a multiple of 64 bytes, and copies others. Buffers begin at a multiple of
 * 16, so a view that does not is always copied.
 */
export const unshared = (data: Float32Array): Float32Array =>
  data.byteOffset % 16 === 0 ? data.slice() : data;

class NativeTensor implements DeviceTensor {
  private alive = true;
  constructor(
    private readonly binding: Binding,
    private readonly id: number,
    readonly shape: readonly number[],
    readonly dtype: Dtype,
    /** The handle holds the halves of 64-bit floats (see `Graph.placeholder`). */
    private readonly pairs: boolean,
  ) {}
  handle(): number {
    if (!this.alive) throw new Error("internal: a freed tensor is used");
    return this.id;
  }
  read(): Float32Array | Float64Array | Int32Array {
    const data = this.binding.tensorDataSync(this.handle());
    return this.pairs ? new Float64Array(Uint8Array.from(bytesOf(data)).buffer) : data;
  }
  free(): void {
    if (!this.alive) return;
    this.alive = false;
    this.binding.deleteTensor(this.id);
  }
}

/** Loads a SavedModel; its folder is not needed afterwards. */
export function openSession(binding: Binding, savedModel: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "gradus-graph-"));
  try {
    writeFileSync(join(folder, "saved_model.pb"), savedModel);
    return binding.loadSavedModel(folder, "serve");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One run of a session; `program` is named where it fails. */
export function runSession(
  binding: Binding,
  program: string,
  session: number,
  handles: readonly number[],
  inputNames: string,
  outputNames: string,
): TensorInfo[] {
  try {
    return binding.runSavedModel(session, handles, inputNames, outputNames);
  } catch (cause) {
    throw new UserError(
      `TensorFlow could not run the ${program} program: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        code: "engine-failed",
        action:
          "If it ran out of memory, lower update.micro_tokens or rollout.prompts; otherwise report it with this message.",
        cause,
      },
    );
  }
}

class NativeProgram implements Program {
  private session:
    | {
        readonly shared: SharedSession;
        readonly inputs: readonly string[];
        readonly inputNames: string;
        readonly outputs: readonly string[];
        readonly outputNames: string;
      }
    | undefined;
  constructor(
    private readonly binding: Binding,
    private readonly spec: ProgramSpec,
    private readonly precision: Precision,
  ) {}

  /** A session costs a tenth of a second or more, so it is made when the program first runs. */
  private open(): NonNullable<typeof this.session> {
    const graph = new Graph({ precision: this.precision });
    const inputs = Object.keys(this.spec.feeds);
    const feeds = Object.fromEntries(
      inputs.map((name, index) => {
        const { dtype, rank } = this.spec.feeds[name]!;
        return [name, graph.placeholder(`in${index}`, dtype, rank)];
      }),
    );
    const results = Object.entries(this.spec.build<string>(graph, feeds));
    results.forEach(([, value], index) => graph.output(`out${index}`, value));
    return {
      shared: sessions.take(graph.serialize(), (bytes) => openSession(this.binding, bytes)),
      inputs,
      inputNames: inputs.map((_, index) => `in${index}:0`).join(","),
      outputs: results.map(([name]) => name),
      outputNames: results.map((_, index) => `out${index}:0`).join(","),
    };
  }

  run(feeds: Tensors): Record<string, DeviceTensor> {
    this.session ??= this.open();
    const { shared, inputs, inputNames, outputs, outputNames } = this.session;
    const handles = inputs.map((name) => {
      const tensor = feeds[name];
      if (!(tensor instanceof NativeTensor))
        throw new Error(`internal: ${this.spec.name} is not fed ${name}`);
      return tensor.handle();
    });
    const infos = runSession(this.binding, this.spec.name, shared.id, handles, inputNames, outputNames);
    const results: Record<string, DeviceTensor> = {};
    outputs.forEach((name, index) => {
      const { id, shape, dtype } = infos[index]!;
      // Results are floats: integers here are the halves of 64-bit ones.
      const pairs = dtype === dataType.int;
      results[name] = new NativeTensor(this.binding, id, pairs ? shape.slice(0, -1) : shape, "float", pairs);
    });
    return results;
  }
  close(): void {
    if (this.session !== undefined) sessions.giveBack(this.session.shared);
    this.session = undefined;
  }
}

export class NativeRuntime implements Runtime {
  readonly name = "native";
  readonly streams: number;
  private readonly programs: NativeProgram[] = [];
  private readonly binding: Binding;
  private readonly precision: Precision;
  constructor(options: {
    readonly threads: number | undefined;
    readonly parameters: number;
    readonly precision?: Precision | undefined;
  }) {
    this.precision = options.precision ?? "float32";
    this.binding = loadBinding(options.parameters, options.threads);
    const threads =
      options.threads ?? (Number(process.env["TF_NUM_INTEROP_THREADS"]) || availableParallelism());
    this.streams =
      options.parameters > STREAMED_PARAMETERS ? 1 : Math.max(1, Math.min(threads, MOST_STREAMS));
  }
  get device(): string {
    return this.binding.isUsingGpuDevice()
      ? "GPU"
      : `CPU, ${this.streams === 1 ? "one stream" : `${this.streams} streams`}`;
  }
  compile(spec: ProgramSpec): Program {
    const program = new NativeProgram(this.binding, spec, this.precision);
    this.programs.push(program);
    return program;
  }
  upload(data: Float32Array | Float64Array | Int32Array, shape: readonly number[]): DeviceTensor {
    if (data instanceof Int32Array) return this.created(data, shape, "int");
    if (this.precision === "float32") {
      const values = data instanceof Float32Array ? data : Float32Array.from(data);
      return this.created(values, shape, "float");
    }
    const halves = new Int32Array(Float64Array.from(data).buffer);
    const id = this.binding.createTensor([...shape, 2], dataType.int, halves);
    return new NativeTensor(this.binding, id, shape, "float", true);
  }
  copy(data: Float32Array, shape: readonly number[]): DeviceTensor {
    return this.upload(unshared(data), shape);
  }
  private created(data: Float32Array | Int32Array, shape: readonly number[], dtype: Dtype): DeviceTensor {
    return new NativeTensor(
      this.binding,
      this.binding.createTensor(shape, dataType[dtype], data),
      shape,
      dtype,
      false,
    );
  }
  tensors(): number {
    return this.binding.getNumOfTensors();
  }
  close(): void {
    for (const program of this.programs) program.close();
  }
}
