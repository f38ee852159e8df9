import asyncio

async def numbers(n):
    for i in range(n):
        yield i
