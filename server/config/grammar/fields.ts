/** Short ways to write the grammar's fields. */
import { z } from "zod";
import type { SlotName } from "../../core/declaration.ts";
import type { Field, Fields } from "./shape.ts";

export const value = (schema: z.ZodType, summary: string): Field => ({
  shape: { kind: "value", schema },
  summary,
});
export const slot = (name: SlotName, summary: string, own: Fields = {}): Field => ({
  shape: { kind: "slot", slot: name, own },
  summary,
});
export const map = (fields: Fields, summary: string): Field => ({ shape: { kind: "map", fields }, summary });
export const short = (key: string, fields: Fields, summary: string): Field => ({
  shape: { kind: "map", fields, short: key },
  summary,
});
export const later = (what: string, summary: string): Field => ({ shape: { kind: "later", what }, summary });

export const whole = (least: number): z.ZodNumber => z.number().int().min(least);
export const fraction = z.number().min(0).max(1);
