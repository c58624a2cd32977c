/**
 * A bundle whose functions say which lines and branches each call reaches. The marks lie in the text itself: V8's own
 * coverage merges a branch that is always taken with what is around it, and is asked for too slowly for each rollout.
 */
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import type { AnyNode } from "acorn";
import type { BranchExit, BranchKind } from "../../../../shared/rollouts/coverage.ts";
import { marks } from "./wire.ts";
import { isSamePath, liesIn } from "../../../../shared/lib/liesIn.ts";
import { slashed } from "../../../../shared/lib/slashes.ts";
import { realPath } from "../../../../shared/lib/realPath.ts";

/** Where a mark is in the user's files. Lines and characters count from 0. */
type MarkPlace =
  | { readonly what: "line" | "return"; readonly file: string; readonly line: number }
  | {
      readonly what: "branch";
      readonly file: string;
      readonly line: number;
      readonly character: number;
      readonly kind: BranchKind;
      readonly exit: BranchExit;
    };

export interface CoveredScript {
  readonly text: string;
  /** By the mark's number. */
  readonly places: readonly MarkPlace[];
}

/** @param file the reward's, as the config names it: only files in its folder are marked, and no packages */
export async function coveredScript(bundle: string, file: string): Promise<CoveredScript> {
  const { parse } = await import("acorn");
  const program = parse(bundle, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const marker = new Marker(new Positions(bundle, file));
  marker.collect(program);
  marker.visit(program);
  return { text: marker.applied(bundle), places: marker.places };
}

interface Position {
  readonly file: string;
  readonly line: number;
  readonly character: number;
}

/** From the bundle to the user's files. */
class Positions {
  private readonly map: SourceMap;
  private readonly real: string;

  constructor(
    bundle: string,
    private readonly file: string,
  ) {
    const encoded = /\/\/# sourceMappingURL=data:[^,]*base64,([\w+/=]+)\s*$/.exec(bundle)?.[1] ?? "";
    this.map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
    this.real = realPath(file);
  }

  /** undefined: not the user's own. */
  of({ loc }: AnyNode): Position | undefined {
    if (loc === undefined || loc === null) return undefined;
    const entry = this.map.findEntry(loc.start.line - 1, loc.start.column);
    if (!("originalSource" in entry)) return undefined;
    const folder = dirname(this.real);
    const source = resolve(folder, entry.originalSource);
    const isOwn = liesIn(source, folder) && !slashed(source).includes("/node_modules/");
    if (!isOwn) return undefined;
    const file = isSamePath(source, this.real) ? this.file : source;
    return { file, line: entry.originalLine, character: entry.originalColumn };
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

const childrenOf = (node: AnyNode): AnyNode[] =>
  Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

const isFunction = ({ type }: AnyNode): boolean =>
  type === "FunctionExpression" || type === "ArrowFunctionExpression";

const hasBreak = (node: AnyNode): boolean =>
  node.type === "BreakStatement" || childrenOf(node).some(hasBreak);

class Marker {
  readonly places: MarkPlace[] = [];
  private readonly numbers = new Map<string, number>();
  /** In the order of the text; those at one place stay in the order in which they were added. */
  private readonly edits: { readonly at: number; readonly text: string }[] = [];
  /** Functions by name, with the files that they are in. */
  private readonly functions = new Map<string, string>();
  private inside = false;

  constructor(private readonly positions: Positions) {}

  applied(text: string): string {
    let [at, marked] = [0, ""];
    for (const edit of this.edits.toSorted((a, b) => a.at - b.at)) {
      marked += text.slice(at, edit.at) + edit.text;
      at = edit.at;
    }
    return marked + text.slice(at);
  }

  /** The names of functions: a call may come before its function. */
  collect(node: AnyNode): void {
    const file = (): string => this.positions.of(node)?.file ?? "";
    if (node.type === "FunctionDeclaration") this.functions.set(node.id?.name ?? "", file());
    if (
      node.type === "VariableDeclarator" &&
      node.id.type === "Identifier" &&
      node.init &&
      isFunction(node.init)
    )
      this.functions.set(node.id.name, file());
    if (node.type === "MethodDefinition" && node.key.type === "Identifier")
      this.functions.set(`this.${node.key.name}`, file());
    for (const child of childrenOf(node)) this.collect(child);
  }

  visit(node: AnyNode): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.function(node);
      case "Program":
      case "BlockStatement":
      case "StaticBlock":
        return this.statements(node.body);
      case "SwitchCase":
        if (node.test) this.visit(node.test);
        return this.statements(node.consequent);
      case "IfStatement":
        return this.inside ? this.condition(node) : this.children(node);
      case "ConditionalExpression":
        return this.inside ? this.expression(node) : this.children(node);
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
      case "WhileStatement":
        return this.inside ? this.loop(node) : this.children(node);
      case "ReturnStatement":
        return node.argument ? this.value(node.argument, node) : undefined;
      default:
        this.children(node);
    }
  }

  private children(node: AnyNode): void {
    for (const child of childrenOf(node)) this.visit(child);
  }

  private function(node: Extract<AnyNode, { readonly params: unknown }>): void {
    const outer = this.inside;
    this.inside = true;
    for (const parameter of node.params) this.visit(parameter);
    const { body } = node;
    if (body.type === "BlockStatement") this.visit(body);
    else {
      this.add(body.start, `(${this.line(body) || "0"}, `);
      this.value(body, body);
      this.add(body.end, ")");
    }
    this.inside = outer;
  }

  private statements(list: readonly AnyNode[]): void {
    for (const node of list) {
      const isMarked =
        this.inside &&
        node.type !== "FunctionDeclaration" &&
        node.type !== "EmptyStatement" &&
        !(node.type === "ExpressionStatement" && node.directive !== undefined);
      if (isMarked) this.add(node.start, statement(this.line(node)));
      this.visit(node);
    }
  }

  private condition(node: Extract<AnyNode, { readonly type: "IfStatement" }>): void {
    const exit = (name: BranchExit): string => statement(this.branch(node, "if", name));
    this.visit(node.test);
    this.block(node.consequent, exit("then"));
    if (node.alternate) this.block(node.alternate, exit("else"));
    else this.add(node.consequent.end, ` else {${exit("else")}}`);
  }

  private expression(node: Extract<AnyNode, { readonly type: "ConditionalExpression" }>): void {
    this.visit(node.test);
    for (const [part, name] of [
      [node.consequent, "then"],
      [node.alternate, "else"],
    ] as const) {
      this.add(part.start, `(${this.branch(node, "conditional", name) || "0"}, (`);
      this.visit(part);
      this.add(part.end, "))");
    }
  }

  private loop(
    node: Extract<
      AnyNode,
      { readonly type: "ForStatement" | "ForInStatement" | "ForOfStatement" | "WhileStatement" }
    >,
  ): void {
    const kind = node.type === "WhileStatement" ? "while" : "for";
    for (const child of childrenOf(node)) if (child !== node.body) this.visit(child);
    this.block(node.body, statement(this.branch(node, kind, "body")));
    const test = "test" in node ? node.test : true;
    const isEndless = test === null || test === undefined || (test !== true && test.type === "Literal");
    // What follows a loop with a `break` does not say how it was left.
    if (!isEndless && !hasBreak(node.body))
      this.add(node.end, ` ${statement(this.branch(node, kind, "end"))}`);
  }

  /** A branch's statement, with a mark at its beginning. */
  private block(node: AnyNode, mark: string): void {
    if (node.type === "BlockStatement") {
      this.add(node.start + 1, mark);
      this.visit(node);
      return;
    }
    this.add(node.start, `{${mark}`);
    this.statements([node]);
    this.add(node.end, "}");
  }

  /** A returned value; that of another function of the same file is marked where that one returns it. */
  private value(node: AnyNode, whole: AnyNode): void {
    const position = this.positions.of(whole);
    const isMarked = position !== undefined && this.calledIn(node) !== position.file;
    if (isMarked) {
      const number = this.number({ what: "return", file: position.file, line: position.line });
      this.add(node.start, `${marks.returned}(${number}, (`);
    }
    this.visit(node);
    if (isMarked) this.add(node.end, "))");
  }

  /** The file of the function that a call calls. */
  private calledIn(node: AnyNode): string | undefined {
    if (node.type === "AwaitExpression") return this.calledIn(node.argument);
    if (node.type !== "CallExpression") return undefined;
    const { callee } = node;
    if (callee.type === "Identifier") return this.functions.get(callee.name);
    const isOwnMethod =
      callee.type === "MemberExpression" &&
      callee.object.type === "ThisExpression" &&
      callee.property.type === "Identifier";
    return isOwnMethod && callee.property.type === "Identifier"
      ? this.functions.get(`this.${callee.property.name}`)
      : undefined;
  }

  private line(node: AnyNode): string {
    const position = this.positions.of(node);
    if (position === undefined) return "";
    return this.call({ what: "line", file: position.file, line: position.line });
  }

  private branch(node: AnyNode, kind: BranchKind, exit: BranchExit): string {
    const position = this.positions.of(node);
    return position === undefined ? "" : this.call({ what: "branch", ...position, kind, exit });
  }

  private call(place: MarkPlace): string {
    return `${marks.line}(${this.number(place)})`;
  }

  private number(place: MarkPlace): number {
    const key = JSON.stringify(place);
    const number = this.numbers.get(key) ?? this.places.push(place) - 1;
    this.numbers.set(key, number);
    return number;
  }

  private add(at: number, text: string): void {
    this.edits.push({ at, text });
  }
}

const statement = (call: string): string => (call === "" ? "" : `${call};`);
