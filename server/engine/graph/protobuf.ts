/** The little of Protocol Buffers that a SavedModel needs: writing, of the fields listed in TensorFlow's .proto files. */
const encoder = new TextEncoder();

function varint(value: number | bigint): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}

const tag = (field: number, wire: 0 | 2 | 5): Buffer => varint((field << 3) | wire);
const number = (field: number, value: number): Buffer => Buffer.concat([tag(field, 0), varint(value)]);
function bytes(field: number, value: Uint8Array | string): Buffer {
  const body = typeof value === "string" ? encoder.encode(value) : value;
  return Buffer.concat([tag(field, 2), varint(body.length), body]);
}
function float(field: number, value: number): Buffer {
  const body = Buffer.alloc(4);
  body.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), body]);
}

/** Numbers of TensorFlow's DataType enum. */
export const dataType = {
  float: 1,
  double: 2,
  int: 3,
  text: 7,
  complex: 8,
  bool: 10,
  complexDouble: 18,
} as const;
export type DataTypeName = keyof typeof dataType;

/** Values an attribute of a node may have. */
export type Attribute =
  | { readonly type: DataTypeName }
  | { readonly integer: number }
  | { readonly boolean: boolean }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly shape: readonly number[] }
  | {
      readonly tensor: {
        readonly dtype: "float" | "double" | "int";
        readonly shape: readonly number[];
        readonly data: Float32Array | Float64Array | Int32Array;
      };
    };

const shapeProto = (shape: readonly number[]): Buffer =>
  Buffer.concat(shape.map((extent) => bytes(2, number(1, extent))));

function tensorProto(tensor: {
  readonly dtype: "float" | "double" | "int";
  readonly shape: readonly number[];
  readonly data: Float32Array | Float64Array | Int32Array;
}): Buffer {
  const { buffer, byteOffset, byteLength } = tensor.data;
  return Buffer.concat([
    number(1, dataType[tensor.dtype]),
    bytes(2, shapeProto(tensor.shape)),
    bytes(4, new Uint8Array(buffer, byteOffset, byteLength)),
  ]);
}

function attributeProto(value: Attribute): Buffer {
  if ("type" in value) return number(6, dataType[value.type]);
  if ("integer" in value) return number(3, value.integer);
  if ("boolean" in value) return number(5, value.boolean ? 1 : 0);
  if ("float" in value) return float(4, value.float);
  if ("text" in value) return bytes(2, value.text);
  if ("shape" in value) return bytes(7, shapeProto(value.shape));
  return bytes(8, tensorProto(value.tensor));
}

/** One node of a graph: `node_def.proto`. Without a device TensorFlow chooses one. */
export function nodeProto(
  name: string,
  operation: string,
  inputs: readonly string[],
  attributes: Readonly<Record<string, Attribute>>,
  device?: string,
): Buffer {
  return Buffer.concat([
    bytes(1, name),
    bytes(2, operation),
    ...inputs.map((input) => bytes(3, input)),
    ...(device === undefined ? [] : [bytes(4, device)]),
    ...Object.entries(attributes).map(([key, value]) =>
      bytes(5, Buffer.concat([bytes(1, key), bytes(2, attributeProto(value))])),
    ),
  ]);
}

/** A SavedModel of one meta graph tagged `serve`. `producer` is the graph version TensorFlow checks on loading. */
export function savedModelProto(nodes: readonly Buffer[], producer: number): Buffer {
  const graph = Buffer.concat([...nodes.map((node) => bytes(1, node)), bytes(4, number(1, producer))]);
  const metaGraph = Buffer.concat([bytes(1, bytes(4, "serve")), bytes(2, graph)]);
  return Buffer.concat([number(1, 1), bytes(2, metaGraph)]);
}
