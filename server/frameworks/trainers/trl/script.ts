/** What a script makes before it calls its trainer, and what of it nothing reads. */
import type { Fix } from "../../../config/check/diagnostic.ts";
import { tokensOf } from "../../../lib/python/tokens.ts";
import { Statements, type Assignment } from "../../text/python/statements.ts";
import { Lines } from "../../readers/lines.ts";
import type { RuleDiagnostic, RuleModel } from "../../rules/rule.ts";
import type { CodeSpan } from "../../text/shell/traced.ts";
import type { TrainerCall } from "./python.ts";

export class Script {
  readonly statements: Statements;
  /** Objects that nothing reads. */
  readonly dead: readonly Assignment[];
  readonly made: readonly Assignment[];

  constructor(
    readonly model: RuleModel,
    readonly trainer: TrainerCall,
  ) {
    this.statements = new Statements(tokensOf(this.text));
    this.made = this.statements.assignments(trainer.call.start);
    this.dead = this.made.filter((one) => this.isDead(one.name.text) && !this.isTried(one));
  }

  /** It may be made only to see whether that fails. */
  private isTried({ statement }: Assignment): boolean {
    const attempt = this.statements.block(statement, /^try$/);
    const here = this.statements.at(this.trainer.call.start);
    return attempt !== undefined && here !== undefined && this.statements.block(here, /^try$/) !== attempt;
  }

  get text(): string {
    return this.model.document.text;
  }

  isDead(name: string): boolean {
    return !this.statements.reads(name) && !this.isTakenOut(name);
  }

  /** A comment inside the trainer's call names it. */
  private isTakenOut(name: string): boolean {
    const { start, end } = this.trainer.call;
    return new RegExp(`#.*(?<!\\w)${name}(?!\\w)`).test(this.text.slice(start, end));
  }

  /** Those that a call of this name makes, the last of each name. */
  deadOf(maker: RegExp): Assignment[] {
    const found = this.dead.filter((one) => maker.test(this.calleeOf(one) ?? ""));
    return [...new Map(found.map((one) => [one.name.text, one])).values()];
  }

  /** `load_dataset` of `load_dataset("a")["train"].map(f)`. */
  calleeOf({ value }: Assignment): string | undefined {
    return /^([\w.]+)\s*\(/.exec(this.text.slice(value.start, value.end))?.[1];
  }

  /** As it is written. */
  given(argument: string): string | undefined {
    return this.trainer.has(argument) ? this.trainer.setting(argument).text : undefined;
  }

  /** A script with several trainers may give it to another one. */
  get isOnlyTrainer(): boolean {
    return [...this.text.matchAll(/(?<!class\s+)\b\w+Trainer\(/g)].length === 1;
  }

  diagnostic(
    key: string,
    span: CodeSpan & { readonly text: string },
    message: string,
    rest: Partial<RuleDiagnostic> = {},
  ): RuleDiagnostic {
    const at = this.trainer.place({ kind: "name", name: span.text, start: span.start, end: span.end }, key);
    return { at, message, ...rest };
  }

  /** Gives the object to the trainer, if its name is known there. */
  passed(argument: string, { name, statement }: Assignment): Fix[] {
    const { call } = this.trainer;
    const last = [...call.positional, ...call.keywords.map(({ value }) => value)].at(-1);
    const block = this.statements.block(statement);
    const here = this.statements.at(call.start);
    const known = block === undefined || (here !== undefined && this.statements.block(here) === block);
    if (last === undefined || !known || this.trainer.has(argument)) return [];
    const before = /\n([ \t]*)\S[^\n]*$/.exec(this.text.slice(call.start, last.start));
    const blank = before === null ? " " : `\n${before[1] ?? ""}`;
    const range = new Lines(this.text).range({ start: last.end, end: last.end });
    const title = `Pass \`${argument}=${name.text}\``;
    return [{ title, edits: [{ range, newText: `,${blank}${argument}=${name.text}` }], preferred: true }];
  }
}
