// The reference library as the other end, for test-openigtlink.py.
//
//   igtlpeer send PORT SCALAR X Y Z N     connects, sends N images of SCALAR
//                                         with a TRANSFORM before each
//   igtlpeer serve PORT FILE X Y Z N TRANSFORMS
//                                         listens, and sends the N volumes of
//                                         uint8 samples in FILE, and before
//                                         each the transforms of the lines
//                                         "volume name 12 numbers" in
//                                         TRANSFORMS
//   igtlpeer receive PORT N               connects, and describes N messages
//
// Sample i of an image is i modulo 100. Prints one line a message.
//
// SPDX-License-Identifier: LGPL-2.1-or-later
// Copyright (C) 2026 the ndconv developers
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <igtlClientSocket.h>
#include <igtlImageMessage.h>
#include <igtlMessageHeader.h>
#include <igtlServerSocket.h>
#include <igtlTransformMessage.h>

template <typename T>
static void
fill (void *samples, int n)
{
  for (int i = 0; i < n; i++)
    static_cast<T *> (samples)[i] = static_cast<T> (i % 100);
}

static void
fill_samples (igtl::ImageMessage::Pointer image, int n)
{
  void *samples = image->GetScalarPointer ();

  switch (image->GetScalarType ()) {
    case igtl::ImageMessage::TYPE_INT8:
    case igtl::ImageMessage::TYPE_UINT8:
      return fill<unsigned char> (samples, n);
    case igtl::ImageMessage::TYPE_INT16:
    case igtl::ImageMessage::TYPE_UINT16:
      return fill<unsigned short> (samples, n);
    case igtl::ImageMessage::TYPE_INT32:
    case igtl::ImageMessage::TYPE_UINT32:
      return fill<unsigned int> (samples, n);
    case igtl::ImageMessage::TYPE_FLOAT32:
      return fill<float> (samples, n);
    default:
      return fill<double> (samples, n);
  }
}

static igtl::ImageMessage::Pointer
make_image (int scalar, const int size[3])
{
  igtl::ImageMessage::Pointer image = igtl::ImageMessage::New ();
  int dimensions[3] = { size[0], size[1], size[2] };
  igtl::Matrix4x4 matrix;

  image->SetDimensions (dimensions);
  image->SetSpacing (0.5, 2, 3);
  image->SetScalarType (scalar);
  image->SetEndian (igtl::ImageMessage::ENDIAN_LITTLE);
  image->SetDeviceName ("Reference");
  image->SetSubVolume (size[0], size[1], size[2], 0, 0, 0);
  image->AllocateScalars ();
  igtl::IdentityMatrix (matrix);
  matrix[0][3] = 10;
  matrix[1][3] = 20;
  matrix[2][3] = 30;
  image->SetMatrix (matrix);
  return image;
}

static void
send_transform (igtl::Socket *socket, int i)
{
  igtl::TransformMessage::Pointer message = igtl::TransformMessage::New ();
  igtl::Matrix4x4 matrix;

  igtl::IdentityMatrix (matrix);
  matrix[0][3] = i;
  message->SetDeviceName ("ProbeToTracker");
  message->SetMatrix (matrix);
  message->Pack ();
  socket->Send (message->GetPackPointer (), message->GetPackSize ());
}

static void
send_image (igtl::Socket *socket, igtl::ImageMessage::Pointer image, int i)
{
  igtl::TimeStamp::Pointer time = igtl::TimeStamp::New ();

  time->SetTime (1000.0 + 0.1 * i);
  image->SetTimeStamp (time);
  image->Pack ();
  socket->Send (image->GetPackPointer (), image->GetPackSize ());
}

/* Until the other end closes. */
static void
wait_end (igtl::Socket *socket)
{
  char bytes[1024];

  while (socket->Receive (bytes, sizeof (bytes), 0) > 0)
    ;
}

static igtl::ClientSocket::Pointer
connect (int port)
{
  for (int i = 0; i < 200; i++) {
    igtl::ClientSocket::Pointer socket = igtl::ClientSocket::New ();

    if (socket->ConnectToServer ("127.0.0.1", port) == 0)
      return socket;
    usleep (50000);
  }
  fprintf (stderr, "cannot connect\n");
  exit (1);
}

static void
send_images (igtl::Socket *socket, int scalar, const int size[3], int n)
{
  igtl::ImageMessage::Pointer image = make_image (scalar, size);

  fill_samples (image, size[0] * size[1] * size[2]);
  for (int i = 0; i < n; i++) {
    send_transform (socket, i);
    send_image (socket, image, i);
  }
}

struct Transform
{
  int volume;
  std::string name;
  igtl::Matrix4x4 matrix;
};

static std::vector<Transform>
read_transforms (const char *path)
{
  std::vector<Transform> all;
  std::ifstream file (path);
  Transform one;

  igtl::IdentityMatrix (one.matrix);
  while (file >> one.volume >> one.name) {
    for (int i = 0; i < 12; i++)
      file >> one.matrix[i / 4][i % 4];
    all.push_back (one);
  }
  return all;
}

/* Sends a file, one image per volume. */
static void
serve_file (igtl::Socket *socket, const char *path, const int size[3], int n,
    std::vector<Transform> transforms)
{
  FILE *file = fopen (path, "rb");
  igtl::ImageMessage::Pointer image =
      make_image (igtl::ImageMessage::TYPE_UINT8, size);

  for (int i = 0; i < n; i++) {
    image = make_image (igtl::ImageMessage::TYPE_UINT8, size);
    if (!file
        || fread (image->GetScalarPointer (), image->GetImageSize (), 1, file)
            != 1)
      exit (1);
    for (Transform &transform : transforms) {
      igtl::TransformMessage::Pointer message = igtl::TransformMessage::New ();

      if (transform.volume != i)
        continue;
      message->SetDeviceName (transform.name.c_str ());
      message->SetMatrix (transform.matrix);
      message->Pack ();
      socket->Send (message->GetPackPointer (), message->GetPackSize ());
    }
    send_image (socket, image, i);
  }
  fclose (file);
}

static void
describe_image (igtl::ImageMessage::Pointer image)
{
  unsigned sum = 0;
  int size[3];
  float spacing[3];
  igtl::Matrix4x4 matrix;
  const unsigned char *bytes =
      static_cast<unsigned char *> (image->GetScalarPointer ());

  image->GetDimensions (size);
  image->GetSpacing (spacing);
  image->GetMatrix (matrix);
  for (int i = 0; i < image->GetImageSize (); i++)
    sum = sum * 31 + bytes[i];
  printf ("IMAGE %s %dx%dx%d of %d type %d sum %u spacing %g %g %g centre %g "
          "%g %g\n",
      image->GetDeviceName (), size[0], size[1], size[2],
      image->GetNumComponents (), image->GetScalarType (), sum, spacing[0],
      spacing[1], spacing[2], matrix[0][3], matrix[1][3], matrix[2][3]);
}

static bool
receive (igtl::Socket *socket)
{
  igtl::MessageHeader::Pointer header = igtl::MessageHeader::New ();

  header->InitPack ();
  if (socket->Receive (header->GetPackPointer (), header->GetPackSize ())
      != header->GetPackSize ())
    return false;
  header->Unpack ();
  if (strcmp (header->GetDeviceType (), "IMAGE") == 0) {
    igtl::ImageMessage::Pointer image = igtl::ImageMessage::New ();

    image->SetMessageHeader (header);
    image->AllocatePack ();
    socket->Receive (image->GetPackBodyPointer (), image->GetPackBodySize ());
    if (!(image->Unpack (1) & igtl::MessageHeader::UNPACK_BODY))
      return false;
    describe_image (image);
  } else if (strcmp (header->GetDeviceType (), "TRANSFORM") == 0) {
    igtl::TransformMessage::Pointer message = igtl::TransformMessage::New ();
    igtl::Matrix4x4 matrix;

    message->SetMessageHeader (header);
    message->AllocatePack ();
    socket->Receive (message->GetPackBodyPointer (),
        message->GetPackBodySize ());
    if (!(message->Unpack (1) & igtl::MessageHeader::UNPACK_BODY))
      return false;
    message->GetMatrix (matrix);
    printf ("TRANSFORM %s %g\n", message->GetDeviceName (), matrix[0][3]);
  } else {
    printf ("%s\n", header->GetDeviceType ());
    socket->Skip (header->GetBodySizeToRead (), 0);
  }
  fflush (stdout);
  return true;
}

int
main (int argc, char **argv)
{
  const char *mode = argc > 3 ? argv[1] : "";
  const int port = argc > 3 ? atoi (argv[2]) : 0;

  if (strcmp (mode, "receive") == 0) {
    igtl::ClientSocket::Pointer socket = connect (port);

    for (int i = atoi (argv[3]); i > 0; i--) {
      if (!receive (socket))
        return 1;
    }
    return 0;
  }
  if (argc == 8 || argc == 9) {
    const int size[3] = { atoi (argv[4]), atoi (argv[5]), atoi (argv[6]) };

    if (strcmp (mode, "send") == 0) {
      igtl::ClientSocket::Pointer socket = connect (port);

      send_images (socket, atoi (argv[3]), size, atoi (argv[7]));
      wait_end (socket);
      return 0;
    }
    if (strcmp (mode, "serve") == 0 && argc == 9) {
      igtl::ServerSocket::Pointer server = igtl::ServerSocket::New ();
      igtl::ClientSocket::Pointer socket;

      if (server->CreateServer (port) != 0)
        return 1;
      do
        socket = server->WaitForConnection (1000);
      while (socket.IsNull ());
      serve_file (socket, argv[3], size, atoi (argv[7]),
          read_transforms (argv[8]));
      wait_end (socket);
      return 0;
    }
  }
  fprintf (stderr, "see the first lines of igtlpeer.cpp\n");
  return 2;
}
