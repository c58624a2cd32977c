/** Arms by name and number. */
import type { Arm } from "../../core/basics.ts";
import type { ArmSet } from "../../core/slots/arms.ts";

export class NamedArms implements ArmSet {
  readonly names: Arm[] = [];
  private readonly numbers = new Map<Arm, number>();

  constructor(names: Iterable<Arm>) {
    for (const name of names) this.add(name);
  }

  get size(): number {
    return this.names.length;
  }
  name(arm: number): Arm {
    return this.names[arm] ?? "";
  }
  find(name: Arm): number {
    return this.numbers.get(name) ?? -1;
  }
  /** The arm of that name, added if it is new. */
  add(name: Arm): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}
