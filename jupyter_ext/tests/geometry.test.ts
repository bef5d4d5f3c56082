import assert from "node:assert/strict";
import { test } from "node:test";
import {
  firstView,
  firstViewDown,
  fitted,
  held,
  nearest,
  revealing,
  zoomed,
} from "../src/view/geometry.ts";

const canvas = { width: 800, height: 400 };
const box = (x: number, y: number) => ({ x, y, width: 100, height: 44 });

test("the first view is never scaled", () => {
  assert.equal(firstView({ width: 5000, height: 9000 }, canvas).scale, 1);
});

test("the first view of a high graph has its entry in the middle", () => {
  const view = firstView({ width: 500, height: 9000 }, canvas, box(0, 4000));
  assert.equal(4022 + view.y, 200);
});

test("what runs from top to bottom begins at its top, in the middle or at its anchor", () => {
  assert.deepEqual(firstViewDown({ width: 300, height: 200 }, canvas), { x: 250, y: 40, scale: 1 });
  const wide = firstViewDown({ width: 5000, height: 9000 }, canvas, box(2000, 0));
  assert.deepEqual([2050 + wide.x, wide.y], [400, 20]);
});

test("fit shows all, and enlarges nothing", () => {
  const large = fitted({ width: 1520, height: 100 }, canvas);
  assert.equal(large.scale, 0.5);
  assert.equal(large.x, 20);
  assert.equal(fitted({ width: 10, height: 10 }, canvas).scale, 1);
});

test("what is under the pointer stays there while zooming", () => {
  const view = { x: 30, y: -12, scale: 1.3 };
  const after = zoomed(view, 1.25, 200, 100);
  const before = (200 - view.x) / view.scale;
  assert.ok(Math.abs((200 - after.x) / after.scale - before) < 1e-9);
});

test("zoom has ends", () => {
  assert.equal(zoomed({ x: 0, y: 0, scale: 1 }, 1e6, 0, 0).scale, 4);
  assert.equal(zoomed({ x: 0, y: 0, scale: 1 }, 1e-6, 0, 0).scale, 0.1);
});

test("a box in sight moves nothing, one outside moves as little as it needs", () => {
  const view = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(revealing(view, box(100, 100), canvas), view);
  assert.deepEqual(revealing(view, box(760, 100), canvas), { x: -84, y: 0, scale: 1 });
  assert.deepEqual(revealing(view, box(-50, -50), canvas), { x: 74, y: 74, scale: 1 });
});

test("the graph cannot be dragged away", () => {
  const away = held({ x: 9999, y: -9999, scale: 1 }, { width: 300, height: 300 }, canvas);
  assert.deepEqual(away, { x: 760, y: -260, scale: 1 });
});

test("arrows go to the nearest node that way", () => {
  const boxes = [box(0, 0), box(200, 0), box(200, 60), box(400, 10), box(0, 60)];
  assert.equal(nearest(boxes, 0, "right"), 1);
  assert.equal(nearest(boxes, 0, "down"), 4);
  assert.equal(nearest(boxes, 1, "right"), 3);
  assert.equal(nearest(boxes, 2, "up"), 1);
  assert.equal(nearest(boxes, 0, "left"), null);
  assert.equal(nearest([], 0, "left"), null);
});
