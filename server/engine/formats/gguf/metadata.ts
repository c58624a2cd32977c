/** Reading single values out of a GGUF header, with errors that name the key. */
import { ggufError, type Header, type MetadataValue } from "./header.ts";

/** The shortest decimal that is the same 32-bit float: 1e-5 is stored as 9.999999747378752e-6. */
export function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}

export class Reading {
  constructor(private readonly header: Header) {}
  private wrong(key: string, wanted: string, found: MetadataValue | undefined): Error {
    const problem = found === undefined ? `it lacks ${key}` : `${key} is not ${wanted}`;
    return ggufError(this.header.file, problem);
  }
  has(key: string): boolean {
    return this.header.metadata.has(key);
  }
  number(key: string, otherwise?: number): number {
    const value = this.header.metadata.get(key) ?? otherwise;
    if (typeof value !== "number") throw this.wrong(key, "a number", value);
    return shortest(value);
  }
  /** undefined where the key is absent. */
  maybeNumber(key: string): number | undefined {
    return this.has(key) ? this.number(key) : undefined;
  }
  text(key: string, otherwise?: string): string {
    const value = this.header.metadata.get(key) ?? otherwise;
    if (typeof value !== "string") throw this.wrong(key, "a text", value);
    return value;
  }
  flag(key: string, otherwise: boolean): boolean {
    const value = this.header.metadata.get(key) ?? otherwise;
    if (typeof value !== "boolean") throw this.wrong(key, "true or false", value);
    return value;
  }
  texts(key: string): string[] {
    return this.list(key).map((value) => {
      if (typeof value !== "string") throw this.wrong(key, "a list of texts", value);
      return value;
    });
  }
  numbers(key: string): number[] {
    return this.list(key).map((value) => {
      if (typeof value !== "number") throw this.wrong(key, "a list of numbers", value);
      return value;
    });
  }
  private list(key: string): readonly MetadataValue[] {
    const value = this.header.metadata.get(key);
    if (!Array.isArray(value)) throw this.wrong(key, "a list", value);
    return value;
  }
}
