/**
 * The native runtime for a device with memory of its own. The addon carries every feed and result of a session through
 * host memory, so here a value stays in the session, on the device, and what JavaScript holds, feeds and receives is
 * its handle: a string. Programs remain pure functions, and only what a program declares as crossing is carried over.
 *
 * A session knows its own values only, so all programs are parts of one graph. A program that is run for the first time
 * makes a new session of all that are known by then, and the values move to it once.
 */
import { Graph } from "../graph/graph.ts";
import { dataType } from "../graph/protobuf.ts";
import { GraphWriter, serializeGraphs, type Device } from "../graph/writer.ts";
import { bytesOf, openSession, runSession, unshared, type Binding } from "./native.ts";
import type { DeviceTensor, Dtype, Program, ProgramSpec, Runtime, Tensors } from "./runtime.ts";

/** How many values one run forgets. */
const FORGETTING = [64, 8, 1] as const;

/** Where a value lies: as the bits of its floats, or as integers, on this side; under a handle in the session. */
type Residence = "here" | "session";

/** The session with everything that is kept in it. */
class Session {
  private id: number | undefined;
  private readonly graphs: GraphWriter[] = [];
  private readonly living = new Set<ResidentTensor>();
  private forgotten: number[] = [];
  constructor(
    readonly binding: Binding,
    readonly device: Device,
  ) {
    const helper = new GraphWriter({ device, prefix: "value/" });
    helper.keep("keep", helper.bits("fed", undefined));
    const value = helper.kept("handle", undefined);
    helper.outputBits("bits", value);
    helper.outputShape("shape", value);
    for (const count of FORGETTING) helper.forget(`forget${count}/`, count);
    this.graphs.push(helper);
  }

  /** A program's part of the graph; the session is made again when something is run next. */
  add(graph: GraphWriter): void {
    const values = [...this.living].map((tensor) => [tensor, this.bitsOf(tensor.id)] as const);
    this.flush();
    this.close();
    this.graphs.push(graph);
    for (const [tensor, bits] of values) {
      this.binding.deleteTensor(tensor.id);
      tensor.id = this.kept(bits);
      this.binding.deleteTensor(bits);
    }
  }
  run(program: string, handles: readonly number[], inputs: string, outputs: string) {
    this.id ??= openSession(this.binding, serializeGraphs(this.graphs));
    return runSession(this.binding, program, this.id, handles, inputs, outputs);
  }
  private one(handle: number, input: string, output: string): number {
    return this.run("value", [handle], `value/${input}:0`, `value/${output}:0`)[0]!.id;
  }
  /** A host handle of a kept value's bits. */
  bitsOf = (id: number): number => this.one(id, "handle", "bits");
  shapeOf(id: number): number[] {
    const shape = this.one(id, "handle", "shape");
    const extents = [...this.binding.tensorDataSync(shape)];
    this.binding.deleteTensor(shape);
    return extents;
  }
  /** Keeps fed bits; their handle. */
  kept = (bits: number): number => this.one(bits, "fed", "keep");

  hold = (tensor: ResidentTensor): void => void this.living.add(tensor);
  /** Forgotten with the next run, many at once. */
  drop(tensor: ResidentTensor): void {
    this.living.delete(tensor);
    if (this.id === undefined) this.binding.deleteTensor(tensor.id);
    else this.forgotten.push(tensor.id);
  }
  flush(): void {
    for (const count of FORGETTING)
      while (this.forgotten.length >= count) {
        const ids = this.forgotten.splice(0, count);
        const names = ids.map((_, index) => `value/forget${count}/${index}:0`).join(",");
        const [done] = this.run("forget", ids, names, `value/forget${count}/:0`);
        for (const id of [...ids, done!.id]) this.binding.deleteTensor(id);
      }
  }
  close(): void {
    if (this.id !== undefined) this.binding.deleteSavedModel(this.id);
    this.id = undefined;
  }
}

class ResidentTensor implements DeviceTensor {
  private alive = true;
  constructor(
    private readonly session: Session,
    /** The addon's: of the value itself, or of the string that names it in the session. */
    public id: number,
    private place: Residence,
    readonly dtype: Dtype,
    private extents: readonly number[] | undefined,
  ) {
    if (place === "session") session.hold(this);
  }
  private checked(): void {
    if (!this.alive) throw new Error("internal: a freed tensor is used");
  }
  get shape(): readonly number[] {
    this.checked();
    return (this.extents ??= this.session.shapeOf(this.id));
  }
  /** Moves the value into the session, once; its handle. */
  inSession(): number {
    this.checked();
    if (this.place === "session") return this.id;
    const bits = this.id;
    this.id = this.session.kept(bits);
    this.place = "session";
    this.session.hold(this);
    this.session.binding.deleteTensor(bits);
    return this.id;
  }
  /** The value on this side, and whether that is a copy to be deleted. */
  here(): { readonly id: number; readonly copied: boolean } {
    this.checked();
    if (this.place === "here") return { id: this.id, copied: false };
    return { id: this.session.bitsOf(this.id), copied: true };
  }
  read(): Float32Array | Int32Array {
    const { binding } = this.session;
    const { id, copied } = this.here();
    const data = binding.tensorDataSync(id);
    if (copied) binding.deleteTensor(id);
    if (this.dtype === "int" || data instanceof Float32Array) return data;
    const { buffer, byteOffset, byteLength } = bytesOf(data);
    return new Float32Array(buffer, byteOffset, byteLength / 4);
  }
  free(): void {
    if (!this.alive) return;
    this.alive = false;
    if (this.place === "session") this.session.drop(this);
    else this.session.binding.deleteTensor(this.id);
  }
}

interface Port {
  readonly name: string;
  readonly place: Residence;
  readonly dtype: Dtype;
}

class ResidentProgram implements Program {
  private ports: { readonly inputs: readonly Port[]; readonly outputs: readonly Port[] } | undefined;
  private inputNames = "";
  private outputNames = "";
  constructor(
    private readonly session: Session,
    private readonly spec: ProgramSpec,
    private readonly prefix: string,
  ) {}

  private placeOf(name: string, rank: number | undefined): Residence {
    const inStream = name.replace(/^\d+\//, "");
    return rank === 0 || this.spec.crossing?.includes(inStream) === true ? "here" : "session";
  }
  private open(): NonNullable<typeof this.ports> {
    const graph = new Graph({ device: this.session.device, prefix: this.prefix });
    const inputs = Object.entries(this.spec.feeds).map(([name, { dtype, rank }]) => ({
      name,
      dtype,
      rank,
      place: dtype === "int" ? ("here" as const) : this.placeOf(name, rank),
    }));
    const feeds = inputs.map(({ name, dtype, rank, place }, index) => {
      if (dtype === "int") return [name, graph.placeholder(`in${index}`, dtype, rank)] as const;
      return [name, graph[place === "here" ? "bits" : "kept"](`in${index}`, rank)] as const;
    });
    const results = Object.entries(this.spec.build<string>(graph, Object.fromEntries(feeds)));
    const outputs = results.map(([name, value], index) => {
      const place = this.placeOf(name, undefined);
      graph[place === "here" ? "output" : "keep"](`out${index}`, value);
      return { name, place, dtype: "float" as const };
    });
    this.session.add(graph);
    this.inputNames = inputs.map((_, index) => `${this.prefix}in${index}:0`).join(",");
    this.outputNames = outputs.map((_, index) => `${this.prefix}out${index}:0`).join(",");
    return { inputs, outputs };
  }

  run(feeds: Tensors): Record<string, DeviceTensor> {
    this.ports ??= this.open();
    this.session.flush();
    const { binding } = this.session;
    const copies: number[] = [];
    const handles = this.ports.inputs.map(({ name, place }) => {
      const tensor = feeds[name];
      if (!(tensor instanceof ResidentTensor))
        throw new Error(`internal: ${this.spec.name} is not fed ${name}`);
      if (place === "session") return tensor.inSession();
      const { id, copied } = tensor.here();
      if (copied) copies.push(id);
      return id;
    });
    try {
      const infos = this.session.run(this.spec.name, handles, this.inputNames, this.outputNames);
      const results = this.ports.outputs.map(({ name, place, dtype }, index) => {
        const { id, shape } = infos[index]!;
        return [
          name,
          new ResidentTensor(this.session, id, place, dtype, place === "here" ? shape : undefined),
        ] as const;
      });
      return Object.fromEntries(results);
    } finally {
      for (const id of copies) binding.deleteTensor(id);
    }
  }
}

/** @param device where values lie and are computed with; "CPU" in tests, for equal results without a GPU. */
export class ResidentRuntime implements Runtime {
  readonly name = "native";
  /** One: the device is busy with one operation. */
  readonly streams = 1;
  private readonly session: Session;
  private programs = 0;
  constructor(
    private readonly binding: Binding,
    device: Device,
  ) {
    this.session = new Session(binding, device);
  }
  get device(): string {
    return `${this.session.device}, values stay on it`;
  }
  compile(spec: ProgramSpec): Program {
    return new ResidentProgram(this.session, spec, `p${this.programs++}/`);
  }
  /** Integers, or floats as integers: the addon would copy floats to the card at once, and back when they are fed. */
  upload(data: Float32Array | Float64Array | Int32Array, shape: readonly number[]): DeviceTensor {
    const values = data instanceof Float64Array ? Float32Array.from(data) : data;
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    const id = this.binding.createTensor(shape, dataType.int, bits);
    const dtype = data instanceof Int32Array ? "int" : "float";
    return new ResidentTensor(this.session, id, "here", dtype, shape);
  }
  copy(data: Float32Array, shape: readonly number[]): DeviceTensor {
    return this.upload(unshared(data), shape);
  }
  tensors(): number {
    this.session.flush();
    return this.binding.getNumOfTensors();
  }
  close(): void {
    this.session.flush();
    this.session.close();
  }
}
