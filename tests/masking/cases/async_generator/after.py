async def stream(source, size=2):
    # TODO: implement stream.
    raise NotImplementedError
    yield  # keeps this function a generator
