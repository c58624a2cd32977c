/** The declarations of every key (server/core/blocks), as what walks a config sees them. */
import { body, config } from "../../core/blocks/body.ts";
import { defaultsOf, nested, type Shape } from "../../core/blocks/field.ts";

export const grammar: Shape & { kind: "map" } = { kind: "map", fields: nested(config) };

export const stageBlocks: readonly string[] = Object.keys(body);

/** What a config says where nothing is written: the choices of preset `grpo`. */
export const defaults = defaultsOf(config);
