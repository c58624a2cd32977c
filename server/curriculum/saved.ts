import type { Json } from "../../shared/json.ts";
import type { Saved } from "../seams.ts";

const isRecord = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The numbers that an estimator saved by arm. */
export const numbersOf = (saved: Saved): [string, number][] =>
  isRecord(saved.json)
    ? Object.entries(saved.json).flatMap(([arm, value]): [string, number][] =>
        typeof value === "number" ? [[arm, value]] : [],
      )
    : [];

/** The lists of numbers that an estimator saved by arm. */
export const listsOf = (saved: Saved): [string, number[]][] =>
  isRecord(saved.json)
    ? Object.entries(saved.json).flatMap(([arm, value]): [string, number[]][] =>
        Array.isArray(value) ? [[arm, value.map(Number)]] : [],
      )
    : [];
