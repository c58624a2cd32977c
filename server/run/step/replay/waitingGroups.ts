/** Lines of a growing log whose groups are not complete. Only groups of runs that have written more are looked at again. */
import { groupKey, type RecordedRow } from "../../../analysis/recorded.ts";

export interface Waiting extends RecordedRow {
  readonly text: string;
}

interface OpenGroup {
  readonly run: string;
  readonly key: string;
  /** Its place among all that ever waited. */
  readonly number: number;
  readonly rows: Waiting[];
}

const stepOf = ({ rows }: OpenGroup): number => rows[0]!.row.step;

export class WaitingGroups {
  private readonly runs = new Map<string, Map<string, OpenGroup>>();
  /** Runs with lines that `complete` has not seen. */
  private readonly touched = new Set<string>();
  private number = 0;
  private count = 0;

  add(one: Waiting): void {
    const { run = "" } = one.row;
    const key = groupKey(one.row);
    const groups = this.runs.get(run) ?? new Map<string, OpenGroup>();
    const group = groups.get(key) ?? { run, key, number: this.number++, rows: [] };
    group.rows.push(one);
    groups.set(key, group);
    this.runs.set(run, groups);
    this.touched.add(run);
    this.count += 1;
  }

  /** Takes out the groups that have become complete: `size` rollouts, or a later step of the same run. */
  complete(size: number): Waiting[][] {
    const whole = [...this.touched].flatMap((run) => {
      const groups = [...(this.runs.get(run)?.values() ?? [])];
      const newest = groups.reduce((step, group) => Math.max(step, stepOf(group)), -Infinity);
      return groups.filter((group) => group.rows.length >= size || stepOf(group) < newest);
    });
    this.touched.clear();
    for (const group of whole) this.remove(group);
    return whole.sort((a, b) => a.number - b.number).map(({ rows }) => rows);
  }

  /**
   * Gives up the oldest groups beyond so many lines: of writers that ended in the middle of one it would wait for ever.
   * @returns lines given up
   */
  trim(most: number): number {
    if (this.count <= most) return 0;
    const before = this.count;
    for (const group of this.groups) {
      if (this.count <= most) break;
      this.remove(group);
    }
    return before - this.count;
  }

  get lines(): Waiting[] {
    return this.groups.flatMap(({ rows }) => rows);
  }

  /** Oldest first. */
  private get groups(): OpenGroup[] {
    return [...this.runs.values()]
      .flatMap((groups) => [...groups.values()])
      .sort((a, b) => a.number - b.number);
  }

  private remove({ run, key, rows }: OpenGroup): void {
    const groups = this.runs.get(run);
    groups?.delete(key);
    if (groups?.size === 0) this.runs.delete(run);
    this.count -= rows.length;
  }
}
