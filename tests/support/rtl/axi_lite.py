"""AXI4-Lite accesses in Amaranth's simulator."""

from __future__ import annotations


async def _until(ctx, ready) -> None:
    taken = False
    while not taken:
        *_, taken = await ctx.tick().sample(ready)


async def axil_read(ctx, port, address: int, *, prot: int = 0) -> tuple[int, int]:
    """Read one register; returns data and response."""
    ctx.set(port.araddr, address)
    ctx.set(port.arprot, prot)
    ctx.set(port.arvalid, 1)
    await _until(ctx, port.arready)
    ctx.set(port.arvalid, 0)
    ctx.set(port.rready, 1)
    valid = False
    while not valid:
        *_, valid, data, response = await ctx.tick().sample(port.rvalid, port.rdata, port.rresp)
    ctx.set(port.rready, 0)
    return data, response


async def axil_write(
    ctx, port, address: int, data: int, *, strobe: int = 0xF, order: str = "together",
    prot: int = 0,
) -> int:  # fmt: skip
    """Write one register; returns the response.

    ``order`` says which channel comes first: "together", "address" or "data".
    """
    ctx.set(port.awaddr, address)
    ctx.set(port.awprot, prot)
    ctx.set(port.wdata, data)
    ctx.set(port.wstrb, strobe)
    if order == "address":
        ctx.set(port.awvalid, 1)
        await _until(ctx, port.awready)
        ctx.set(port.awvalid, 0)
        await ctx.tick()
    if order == "data":
        ctx.set(port.wvalid, 1)
        await _until(ctx, port.wready)
        ctx.set(port.wvalid, 0)
        await ctx.tick()
    waiting = {"awvalid": port.awready, "wvalid": port.wready}
    if order != "together":
        waiting.pop("awvalid" if order == "address" else "wvalid")
    for valid in waiting:
        ctx.set(getattr(port, valid), 1)
    while waiting:
        *_, aw, w = await ctx.tick().sample(port.awready, port.wready)
        for valid, taken in (("awvalid", aw), ("wvalid", w)):
            if taken and waiting.pop(valid, None) is not None:
                ctx.set(getattr(port, valid), 0)
    ctx.set(port.bready, 1)
    done = False
    while not done:
        *_, done, response = await ctx.tick().sample(port.bvalid, port.bresp)
    ctx.set(port.bready, 0)
    return response
