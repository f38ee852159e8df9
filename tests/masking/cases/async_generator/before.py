async def stream(source, size=2):
    # in pieces
    async for item in source:
        yield item[:size]
