/** What a Python script has besides `GRPOConfig(…)`: the call of the trainer. */
import type { FrameworkDocument, Setting } from "../../text/document.ts";
import { evaluated, type PythonExpression } from "../../text/python/expression.ts";
import { tokensOf } from "../../../lib/python/tokens.ts";
import { Lines } from "../../readers/lines.ts";
import { assignments, callsOf, type Call } from "../../readers/pythonReader.ts";
import type { RuleModel } from "../../rules/rule.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import { trainerOfTree } from "../../releases/programs/trl.ts";

export class TrainerCall {
  private readonly given: ReadonlyMap<string, PythonExpression>;

  constructor(
    private readonly document: FrameworkDocument,
    private readonly lines: Lines,
    readonly call: Call,
    /** Names of positional arguments. */
    private readonly positions: readonly string[],
    readonly names: ReadonlyMap<string, PythonExpression>,
    /** The file omits something: `GRPOConfig(...)`. */
    private readonly sketched: boolean,
  ) {
    const placed = call.positional.map((value, i) => [positions[i] ?? "", value] as const);
    this.given = new Map([...placed, ...call.keywords.map(({ name, value }) => [name, value] as const)]);
  }

  /** Whether all of its arguments can be seen. */
  get complete(): boolean {
    const { positional, spreads } = this.call;
    return spreads.length === 0 && positional.length <= this.positions.length && !this.sketched;
  }

  /** The argument; a name is replaced by the value assigned to it. */
  get(name: string): PythonExpression | undefined {
    const value = this.given.get(name);
    return value?.kind === "name" ? (this.names.get(value.name) ?? value) : value;
  }

  value(name: string): Json | undefined {
    return evaluated(this.given.get(name), this.names);
  }

  /** Whether an argument is there and is not None. */
  has(name: string): boolean {
    return this.given.has(name) && this.value(name) !== null;
  }

  /** The call itself where the argument is missing. */
  setting(name: string): Setting {
    const { call, document } = this;
    const keyword = call.keywords.find((one) => one.name === name);
    const value = this.given.get(name) ?? { ...call, end: call.start + call.callee.length };
    return {
      key: name,
      value: this.value(name),
      text: document.text.slice(value.start, value.end),
      keyRange: this.lines.range(keyword?.nameSpan ?? value),
      range: this.lines.range(value),
      sign: "",
    };
  }

  place(expression: PythonExpression, key: string): Setting {
    const range = this.lines.range(expression);
    return {
      key,
      value: undefined,
      text: this.document.text.slice(expression.start, expression.end),
      keyRange: range,
      range,
      sign: "",
    };
  }
}

const read = new WeakMap<FrameworkDocument, TrainerCall | null>();

/** The last call of the trainer's class in a Python file; undefined where there is none. */
export function trainerOf({ document }: RuleModel): TrainerCall | undefined {
  if (document.form !== "python") return undefined;
  const known = read.get(document);
  if (known !== undefined) return known ?? undefined;
  const tokens = tokensOf(document.text);
  const kind = trainerOfTree(document.tree);
  const call = kind === undefined ? undefined : callsOf(tokens, kind.trainer).at(-1);
  const sketched = tokens.some(({ kind, text }) => kind === "operator" && text === "...");
  const trainer =
    call === undefined || kind === undefined
      ? undefined
      : new TrainerCall(
          document,
          new Lines(document.text),
          call,
          kind.positions,
          assignments(tokens, call.start),
          sketched,
        );
  read.set(document, trainer ?? null);
  return trainer;
}

/** The name or path of the model, where it is written; undefined if Python makes it. */
export function modelNameOf(model: RuleModel): string | undefined {
  if (model.document.form !== "python") return model.text("model_name_or_path");
  const value = evaluated(trainerOf(model)?.get("model"));
  return typeof value === "string" ? value : undefined;
}

/** The severity of what a trainer refuses and its arguments class accepts: an error if the file trains with it. */
export const refusedByTrainer = (model: RuleModel): "error" | "warning" =>
  model.document.form === "python" && trainerOf(model) === undefined ? "warning" : "error";
