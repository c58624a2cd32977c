/** Programs of one model on one runtime; each is compiled when it is first wanted. */
import type { Program, ProgramSpec, Runtime } from "./runtime.ts";

export class ProgramCache {
  private readonly compiled = new Map<string, Program>();
  constructor(readonly runtime: Runtime) {}
  /** @param key equal for equal programs */
  get(key: string, spec: () => ProgramSpec): Program {
    const program = this.compiled.get(key) ?? this.runtime.compile(spec());
    this.compiled.set(key, program);
    return program;
  }
}
