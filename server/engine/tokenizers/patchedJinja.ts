/**
 * @huggingface/jinja, made to agree with Python's Jinja where it does not: `~` joins whatever it is given, as text (none
 * raised an error, true became `true`), and what an iteration wrote before `break` or `continue` stays. The library
 * offers no way in but its interpreter's `evaluate`, through which every statement and expression goes.
 */
import { Interpreter, Template, type Environment } from "@huggingface/jinja";

type Node = NonNullable<Parameters<Interpreter["evaluate"]>[0]>;
type Value = ReturnType<Interpreter["evaluate"]>;

const isList = (value: unknown): value is readonly Node[] => Array.isArray(value);
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
const partOf = (node: Node, name: string): unknown => Reflect.get(node, name);
const nodeIn = (node: Node, name: string): Node | undefined => {
  const part = partOf(node, name);
  return isNode(part) ? part : undefined;
};
const listIn = (node: Node, name: string): readonly Node[] => {
  const part = partOf(node, name);
  return isList(part) ? part : [];
};

/** Leaves an iteration, with what the blocks inside it have written. */
class Leave extends Error {
  constructor(
    readonly kind: "Break" | "Continue",
    readonly written: string,
  ) {
    super(`${kind.toLowerCase()} outside of a loop`);
  }
}

/** The body of a loop as one statement, which never throws what leaves the iteration. */
class Iteration {
  readonly type = "Iteration";
  constructor(readonly body: readonly Node[]) {}
}

const plain = Interpreter.prototype.evaluate;

function text(interpreter: Interpreter, value: string, scope: Environment): Value {
  const literal: Node & { readonly value: string } = { type: "StringLiteral", value };
  return plain.call(interpreter, literal, scope);
}

/** What a value is when it is written out, as Python writes it. */
function written(value: Value): string {
  if (value.type === "NullValue") return "None";
  if (value.type === "UndefinedValue") return "";
  if (value.type === "BooleanValue") return value.value ? "True" : "False";
  return value.toString();
}

function block(interpreter: Interpreter, body: readonly Node[], scope: Environment): string {
  let out = "";
  for (const node of body) {
    try {
      const value = interpreter.evaluate(node, scope);
      if (value.type !== "NullValue" && value.type !== "UndefinedValue") out += value.toString();
    } catch (error) {
      if (error instanceof Leave) throw new Leave(error.kind, out + error.written);
      throw error;
    }
  }
  return out;
}

interface Loop {
  /** `break` has ended it: what is left of its items is passed over. */
  left: boolean;
  started: boolean;
  /** Whether an iteration came to its end: where none did, Python's Jinja goes on with `else`. */
  completed: boolean;
}
/** Loops under way, the innermost last. */
const loops: Loop[] = [];

function iteration(interpreter: Interpreter, body: readonly Node[], scope: Environment): string {
  const loop = loops.at(-1);
  if (loop === undefined || loop.left) return "";
  loop.started = true;
  try {
    const out = block(interpreter, body, scope);
    loop.completed = true;
    return out;
  } catch (error) {
    if (!(error instanceof Leave)) throw error;
    loop.left = error.kind === "Break";
    return error.written;
  }
}

function loopOf(interpreter: Interpreter, node: Node, scope: Environment): string {
  const loop: Loop = { left: false, started: false, completed: false };
  loops.push(loop);
  let out: string;
  try {
    out = plain.call(interpreter, node, scope).toString();
  } finally {
    loops.pop();
  }
  const otherwise = loop.started && !loop.completed;
  return otherwise ? out + block(interpreter, listIn(node, "defaultBlock"), scope) : out;
}

Interpreter.prototype.evaluate = function (statement, scope) {
  if (statement === undefined) return plain.call(this, statement, scope);
  switch (statement.type) {
    case "Iteration":
      return text(this, iteration(this, listIn(statement, "body"), scope), scope);
    case "For":
      return text(this, loopOf(this, statement, scope), scope);
    case "Break":
    case "Continue":
      throw new Leave(statement.type, "");
    case "If": {
      const holds = this.evaluate(nodeIn(statement, "test"), scope).__bool__().value;
      return text(this, block(this, listIn(statement, holds ? "body" : "alternate"), scope), scope);
    }
    case "BinaryExpression": {
      const operator: unknown = Reflect.get(partOf(statement, "operator") ?? {}, "value");
      if (operator !== "~") break;
      const [first, second] = [nodeIn(statement, "left"), nodeIn(statement, "right")];
      return text(this, written(this.evaluate(first, scope)) + written(this.evaluate(second, scope)), scope);
    }
  }
  return plain.call(this, statement, scope);
};

/** Every loop's body as one iteration, loops within loops included. */
function wrap(node: unknown): void {
  if (isList(node)) return node.forEach(wrap);
  if (node instanceof Map) return [...node].forEach(wrap);
  if (!isNode(node)) return;
  for (const part of Object.values(node)) wrap(part);
  if (node.type === "For") Reflect.set(node, "body", [new Iteration(listIn(node, "body"))]);
}

/** @throws Error where the text is no template */
export function patchedTemplate(source: string): Template {
  const template = new Template(source);
  wrap(template.parsed);
  return template;
}
